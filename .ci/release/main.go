// Command release makes a release of Holdfast. It is run in the repository:
//
//	go -C .ci/release run . [-dry-run] [-out FOLDER] v0.1.0
//
// It checks that the working tree is clean, that the version follows the last tag, that CHANGELOG.md has a section for it, and that every part
// of .ci/scheduled has passed on this commit, or on one that differs only in docs/SCHEDULED.md and CHANGELOG.md; compares the
// exported API with that of the last tag and prints the differences; looks for known vulnerabilities if their database can be reached;
// builds cmd/holdfast for five platforms with checksums; and makes the annotated tags: one of the main module, and one of each module below plugin,
// such as plugin/holdfastotel/v0.1.0. It pushes nothing. With -dry-run it does all but the tags.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	dryRun := flag.Bool("dry-run", false, "do all but the tags")
	out := flag.String("out", "dist", "the folder for the binaries and SHA256SUMS, relative to the repository's root; it is emptied first")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: release [-dry-run] [-out FOLDER] VERSION")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, flag.Arg(0), *out, *dryRun)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, version, out string, dryRun bool) error {
	root, err := command(ctx, ".", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	r := release{
		ctx: ctx, root: root, version: version, out: out, dryRun: dryRun, platforms: platforms, vulnerabilities: govulncheck, log: os.Stdout,
	}
	return r.make()
}
