package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/internal/explore"
)

// contradiction returns an error about flags that are out of range or missing.
func (c *exploreCommand) contradiction() error {
	switch {
	case len(c.Command) == 0:
		return errors.New("give the program to run, after --")
	case c.Depth < 1:
		return fmt.Errorf("--depth is %d; it must be at least 1", c.Depth)
	case c.Samples < 1:
		return fmt.Errorf("--samples is %d; it must be at least 1", c.Samples)
	case c.Parallel < 0:
		return fmt.Errorf("--parallel is %d; it must not be negative", c.Parallel)
	case c.Budget <= 0:
		return fmt.Errorf("--budget is %v; it must be positive", c.Budget)
	}
	return nil
}

// chosen returns the failures that --failures names, or all.
func (c *exploreCommand) chosen(all []explore.Failure) ([]explore.Failure, error) {
	if len(c.Failures) == 0 {
		return all, nil
	}
	var known []string
	for _, f := range all {
		known = append(known, f.Name)
	}
	for _, name := range c.Failures {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("--failures: there is no failure %q; known are: %s", name, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(all, func(f explore.Failure) bool { return !slices.Contains(c.Failures, f.Name) }), nil
}

// of one case alone, these flags mean nothing.
var notRepeated = []string{"only", "failures", "depth", "samples", "seed", "parallel", "json", "junit", "html", "no-color"}

// repeat returns what makes the command line that repeats one case alone.
func (c *exploreCommand) repeat(s *session) func(explore.Case) string {
	words := []string{"holdfast", "explore"}
	for i, f := range s.given {
		if slices.Contains(notRepeated, f.Name) || slices.Contains(s.given[:i], f) {
			continue
		}
		words = append(words, "--"+f.Name)
		switch value := reflect.Indirect(f.Target).Interface().(type) {
		case bool:
		case []string:
			words = append(words, strings.Join(value, ","))
		default:
			words = append(words, fmt.Sprint(value))
		}
	}
	begin := quotedWords(words)
	end := quotedWords(c.Command)
	return func(one explore.Case) string { return fmt.Sprintf("%s --only '%s' -- %s", begin, one, end) }
}

// quotedWords returns words as a line for a shell.
func quotedWords(words []string) string {
	list := make([]string, len(words))
	for i, w := range words {
		if list[i] = w; w == "" || strings.ContainsFunc(w, needsQuotes) {
			list[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(list, " ")
}

// needsQuotes reports whether a character may have a meaning for a shell.
func needsQuotes(r rune) bool {
	plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r > 0x7f || strings.ContainsRune("-_./:=,@%+", r)
	return !plain
}
