// Command figures measures the figures in docs/FIGURES.md. It runs each command of the table once, in the
// repository's root, reads the lines "figure NAME VALUE" of its output, and writes the value and the date into the
// last column of the table.
//
//	go run ./internal/devtools/figures [-n] [-command REGEXP] [-except REGEXP] [NAME ...]
//
// With names, or with expressions for the commands, it measures only their rows. With -n it leaves the table as it is. It exits
// with 1, after all others, if a command fails or does not print a figure of its rows.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

const table = "docs/FIGURES.md"

var figureLine = regexp.MustCompile(`(?m)^\s*figure (\S+) (\S+)\s*$`)

func main() {
	var chosen choice
	onlyPrint := flag.Bool("n", false, "print the figures, and leave the table as it is")
	flag.StringVar(&chosen.command, "command", "", "measure only the rows whose commands match this regular expression")
	flag.StringVar(&chosen.except, "except", "", "measure no row whose command matches this regular expression")
	flag.Parse()
	chosen.names = flag.Args()
	if err := run(chosen, *onlyPrint); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

func run(chosen choice, onlyPrint bool) error {
	text, err := os.ReadFile(table)
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	rows, err := rowsOf(lines)
	if err != nil {
		return err
	}
	if rows, err = chosen.of(rows); err != nil {
		return err
	}
	measured := map[string]map[string]string{} // by command, then by name
	var failed error                           // it goes on with the other commands
	for _, row := range rows {
		values, done := measured[row.command]
		if !done {
			if values, err = measure(row.command); err != nil {
				failed = errors.Join(failed, err)
			}
			measured[row.command] = values
		}
		value, ok := values[row.name]
		if !ok {
			failed = errors.Join(failed, fmt.Errorf("%q does not print the figure %s, or has failed", row.command, row.name))
			continue
		}
		lines[row.line] = row.measuredAs(value, time.Now().UTC().Format(time.DateOnly))
	}
	if onlyPrint {
		return failed
	}
	return errors.Join(failed, os.WriteFile(table, []byte(strings.Join(lines, "\n")), 0o644))
}

func measure(command string) (map[string]string, error) {
	fmt.Println("$", command)
	start := time.Now()
	out, err := exec.Command("bash", "-c", command).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%q: %w\n%s", command, err, out)
	}
	found := map[string]string{}
	for _, m := range figureLine.FindAllStringSubmatch(string(out), -1) {
		found[m[1]] = m[2]
		fmt.Println("figure", m[1], m[2])
	}
	fmt.Printf("  %.0f s\n", time.Since(start).Seconds())
	return found, nil
}
