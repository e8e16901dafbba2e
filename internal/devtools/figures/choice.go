package main

import (
	"fmt"
	"regexp"
	"slices"
)

// A choice says which rows are measured: all, or those of some names and commands.
type choice struct {
	names           []string
	command, except string // regular expressions for the commands; nothing matches an empty except
}

func (c choice) of(rows []row) ([]row, error) {
	command, err := regexp.Compile(c.command)
	if err != nil {
		return nil, fmt.Errorf("-command: %w", err)
	}
	except, err := regexp.Compile(c.except)
	if err != nil {
		return nil, fmt.Errorf("-except: %w", err)
	}
	for _, name := range c.names {
		if !slices.ContainsFunc(rows, func(r row) bool { return r.name == name }) {
			return nil, fmt.Errorf("%s has no figure %s", table, name)
		}
	}
	var chosen []row
	for _, r := range rows {
		named := len(c.names) == 0 || slices.Contains(c.names, r.name)
		if named && command.MatchString(r.command) && (c.except == "" || !except.MatchString(r.command)) {
			chosen = append(chosen, r)
		}
	}
	return chosen, nil
}
