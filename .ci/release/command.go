package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/mod/semver"
)

// command runs a program in a folder and returns its output without spaces at its ends.
func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	return commandWith(ctx, dir, nil, name, args...)
}

// commandWith is command with more variables of the environment.
func commandWith(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, out, errs.String())
	}
	return strings.TrimSpace(string(out)), err
}

// newest returns the highest version of a list of tags, "" if there is none.
func newest(tags string) string {
	highest := ""
	for tag := range strings.FieldsSeq(tags) {
		if semver.IsValid(tag) && semver.Compare(tag, highest) > 0 {
			highest = tag
		}
	}
	return highest
}

// exitVulnerable is the exit code of govulncheck if it found something.
const exitVulnerable = 3

// govulncheck runs the tool of that name, whose version this module's go.mod pins.
func govulncheck(ctx context.Context, root, dir string) (found bool, report string, err error) {
	report, err = command(ctx, root+"/.ci/release", "go", "tool", "govulncheck", "-C", dir, "./...")
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == exitVulnerable {
		return true, report, nil
	}
	return false, report, err
}
