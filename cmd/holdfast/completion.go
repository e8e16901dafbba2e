package main

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// Help returns the part of the help that is not about a flag.
func (*completionCommand) Help() string {
	return `It prints a script that makes the shell complete the commands and flags of holdfast. The script asks the program itself, so it stays true when the
program changes.`
}

//go:embed completion.bash
var completionBash string

//go:embed completion.zsh
var completionZsh string

//go:embed completion.fish
var completionFish string

// Run prints the script of a shell.
func (c *completionCommand) Run(s *session) error {
	script := map[string]string{"bash": completionBash, "zsh": completionZsh, "fish": completionFish}[c.Shell]
	_, err := io.WriteString(s.stdout, script)
	return written(err)
}

// completeName is the first argument with which the scripts ask for the candidates. It is no command of the help.
const completeName = "complete"

// filesWanted is the line that tells a script to complete names of files.
const filesWanted = ":files"

// runComplete prints the candidates for the last word of a command line, each on a line with a tab before its help. It returns
// the exit code.
func runComplete(s *session, c *cli, opts []kong.Option, words []string) int {
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	words = joinEquals(words)
	list, err := candidatesOf(s, c, opts, words)
	if err != nil {
		return exitCode(err, s.stderr)
	}
	for _, c := range list {
		fmt.Fprintln(s.stdout, strings.TrimRight(c.value+"\t"+c.help, "\t"))
	}
	return exitOK
}

// candidatesOf returns the candidates of the parser that a command line has: `router hash` has one of its own.
func candidatesOf(s *session, c *cli, opts []kong.Option, words []string) ([]candidate, error) {
	if isRouterHash(words) && len(words) > 2 {
		parser, err := newParser(s, new(routerHashCommand), nil)
		if err != nil {
			return nil, err
		}
		return candidates(parser.Model, words[2:]), nil
	}
	parser, err := newParser(s, c, opts)
	if err != nil {
		return nil, err
	}
	list := candidates(parser.Model, words)
	if hash := "hash"; len(words) == 2 && words[0] == "router" && strings.HasPrefix(hash, words[1]) {
		list = append(list, candidate{hash, "Make an entry of the file of users from a password"})
	}
	return list, nil
}

// joinEquals joins --flag, = and value, which bash splits into three words.
func joinEquals(words []string) []string {
	var joined []string
	for i, w := range words {
		last := len(joined) - 1
		switch {
		case last >= 0 && w == "=" && strings.HasPrefix(joined[last], "--"):
			joined[last] += "="
		case last >= 0 && i > 0 && words[i-1] == "=" && strings.HasSuffix(joined[last], "="):
			joined[last] += w
		default:
			joined = append(joined, w)
		}
	}
	return joined
}

// candidate is a word that may stand at the end of the command line.
type candidate struct{ value, help string }

// candidates returns the words that may stand in place of the last of words.
func candidates(app *kong.Application, words []string) []candidate {
	if len(words) == 0 {
		words = []string{""}
	}
	node, pending := walk(app.Node, words[:len(words)-1])
	current := words[len(words)-1]
	name, value, hasValue := strings.Cut(current, "=")
	switch {
	case pending != nil:
		return valuesOf(pending, current)
	case hasValue && strings.HasPrefix(name, "--"):
		return valuesOf(flagNamed(node, name), value)
	case strings.HasPrefix(current, "-"):
		return flagsOf(node, current)
	}
	return argumentsOf(node, current)
}

// walk follows the complete words of a command line. It returns the command, and the flag whose value comes next, otherwise nil.
func walk(node *kong.Node, words []string) (*kong.Node, *kong.Flag) {
	var pending *kong.Flag
	for _, w := range words {
		switch {
		case pending != nil:
			pending = nil
		case strings.HasPrefix(w, "-"):
			if f := flagNamed(node, w); f != nil && !f.IsBool() && !f.IsCounter() {
				pending = f
			}
		default:
			if at := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == w }); at >= 0 {
				node = node.Children[at]
			}
		}
	}
	return node, pending
}

// flagNamed returns the flag of a word like --name or -n, nil if there is none.
func flagNamed(node *kong.Node, word string) *kong.Flag {
	for _, group := range node.AllFlags(false) {
		for _, f := range group {
			if word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short) {
				return f
			}
		}
	}
	return nil
}

func flagsOf(node *kong.Node, prefix string) (list []candidate) {
	for _, group := range node.AllFlags(true) {
		for _, f := range group {
			if name := "--" + f.Name; strings.HasPrefix(name, prefix) {
				list = append(list, candidate{name, firstSentence(f.Help)})
			}
		}
	}
	return list
}

// filePlaceholders are those of flags whose value is the name of a file or a folder.
var filePlaceholders = []string{"FILE", "FOLDER", "PATH"}

// valuesOf returns the values of a flag that begin with prefix.
func valuesOf(f *kong.Flag, prefix string) []candidate {
	switch {
	case f == nil:
		return nil
	case slices.Contains(filePlaceholders, f.PlaceHolder):
		return []candidate{{value: filesWanted}}
	}
	return enumOf(f.Value, prefix)
}

func enumOf(v *kong.Value, prefix string) (list []candidate) {
	for _, value := range v.EnumSlice() {
		if value != "" && strings.HasPrefix(value, prefix) {
			list = append(list, candidate{value: value})
		}
	}
	return list
}

// argumentsOf returns the commands below a node, and the values of its arguments.
func argumentsOf(node *kong.Node, prefix string) (list []candidate) {
	for _, n := range node.Children {
		if n.Type == kong.CommandNode && !n.Hidden && strings.HasPrefix(n.Name, prefix) {
			list = append(list, candidate{n.Name, firstSentence(n.Help)})
		}
	}
	for _, p := range node.Positional {
		list = append(list, enumOf(p, prefix)...)
	}
	return list
}

// firstSentence returns the beginning of a help text, on one line.
func firstSentence(help string) string {
	sentence, _, _ := strings.Cut(help, ". ")
	return strings.TrimSuffix(strings.Join(strings.Fields(sentence), " "), ".")
}
