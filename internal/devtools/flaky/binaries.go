package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// test is one test, example or fuzz test (with its seeds) of a package, in one build of its test binary.
type test struct{ path, name, build string }

// runnable is a test with its binary and the folder that it runs in.
type runnable struct {
	test
	binary, folder string
}

// allTests compiles the test binaries of the packages, and returns their tests. No packages means all of the module.
func allTests(ctx context.Context, folder string, packages []string) ([]runnable, error) {
	if len(packages) == 0 {
		packages = []string{"./..."}
	}
	out, err := output(ctx, "go", append([]string{"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}"}, packages...)...)
	if err != nil {
		return nil, err
	}
	var all []runnable
	for line := range strings.Lines(string(out)) {
		path, dir, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		tests, err := testsOf(ctx, folder, path, dir)
		if err != nil {
			return nil, err
		}
		all = append(all, tests...)
	}
	return all, nil
}

// testsOf compiles the test binary of a package, and lists its tests.
func testsOf(ctx context.Context, folder, path, dir string) ([]runnable, error) {
	binary := filepath.Join(folder, shortHash([]byte(path))+".test")
	if _, err := output(ctx, "go", "test", "-c", "-buildvcs=false", "-o", binary, path); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	build := shortHash(content)
	cmd := exec.CommandContext(ctx, binary, "-test.list", ".")
	cmd.Dir = dir
	names, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: the list of the tests: %w", path, err)
	}
	var tests []runnable
	for line := range strings.Lines(string(names)) {
		name := strings.TrimSpace(line)
		if name != "" && !strings.HasPrefix(name, "Benchmark") {
			tests = append(tests, runnable{test{path, name, build}, binary, dir})
		}
	}
	return tests, nil
}

func output(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s%s", name, args[0], err, out, &said)
	}
	return out, nil
}

func shortHash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}
