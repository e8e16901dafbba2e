package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// example is a command line in the help of a command. A test runs each of them.
type commandExample struct {
	text string // its purpose
	line string
}

// examplesOf has the examples of each command, by its name.
var examplesOf = map[string][]commandExample{
	"prove": {
		{"The whole matrix for MongoDB, in less than a minute", "holdfast prove"},
		{"Two cells of it", "holdfast prove --failure reply-lost --strategy five-blind --strategy retryable-writes"},
		{"On a server of your own, in its database holdfast_prove", "holdfast prove --uri mongodb://127.0.0.1:27017/ --failure reply-lost --strategy two-step"},
	},
	"explore": {
		{"Each failure at each message of a program, with a check of what it promises", "holdfast explore --check ./audit --html report.html -- ./shop"},
		{"One case of it again", "holdfast explore --check ./audit --only update/shop.counters/1:reply-lost -- ./shop"},
		{"The same for a program that uses Couchbase", "holdfast explore --backend couchbase --failures reply-lost,killed-after --check ./audit -- ./shop"},
		{"The failures", "holdfast explore --list-failures"},
	},
	"topology": {
		{"The members of a set, and where reads go", "holdfast topology --uri mongodb://127.0.0.1:27017/"},
		{"Each change, until Ctrl-C", "holdfast topology --uri mongodb://127.0.0.1:27017/ --follow"},
		{"With a password that the list of processes does not show", "HOLDFAST_URI=mongodb://127.0.0.1:27017/ holdfast topology --json"},
	},
	"check": {
		{"Everything that can be checked", "holdfast check --uri 'mongodb://127.0.0.1:27017/?timeoutMS=30000'"},
		{"For a program", "holdfast check --uri mongodb://127.0.0.1:27017/ --json"},
	},
	"sweep": {
		{"Count the updates that are pending for ten minutes or more", "holdfast sweep --uri mongodb://127.0.0.1:27017/ --ns shop.counters --report-only"},
		{"Finish them", "holdfast sweep --uri mongodb://127.0.0.1:27017/ --ns shop.counters --ns shop.carts"},
	},
	"explain": {
		{"All rules", "holdfast explain"},
		{"The verdict for one case", "holdfast explain insertOne --error 10107 --server replica-set"},
		{"The same about Couchbase", "holdfast explain --backend couchbase get --error KV_TEMPORARY_FAILURE"},
	},
	"router": {
		{"In front of a set; clients connect to the address that it prints", "holdfast router --upstream mongodb://127.0.0.1:27017/?replicaSet=rs0 --listen 127.0.0.1:0"},
		{"With health, readiness and metrics", "holdfast router --upstream mongodb://127.0.0.1:27017/ --listen 127.0.0.1:0 --admin 127.0.0.1:0"},
	},
	"mock": {
		{"A replica set of three members on free ports, until Ctrl-C", "holdfast mock"},
		{"A sharded cluster with two mongos", "holdfast mock --mongos 2"},
		{"A standalone of an old release, with a user", "holdfast mock --standalone --server-version 4.4 --user alice:secret"},
		{"A Couchbase cluster", "holdfast mock --backend couchbase --nodes 3"},
	},
	"completion": {
		{"In bash, for this session", "source <(holdfast completion bash)"},
		{"In zsh, for this session", "source <(holdfast completion zsh)"},
		{"In fish, for all sessions", "holdfast completion fish > ~/.config/fish/completions/holdfast.fish"},
	},
	"version": {{"The same", "holdfast --version"}},
}

// printHelp is kong's help with the examples at its end.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return cannotRun(err)
	}
	selected := ctx.Selected()
	if selected == nil || ctx.Model.Name == mongodName {
		return nil
	}
	var b strings.Builder
	for i, e := range examplesOf[selected.Name] {
		if i == 0 {
			b.WriteString("\nExamples:\n")
		}
		fmt.Fprintf(&b, "  # %s\n  %s\n", e.text, e.line)
	}
	_, err := fmt.Fprint(ctx.Stdout, b.String())
	return written(err)
}
