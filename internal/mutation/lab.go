package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// lab tests mutants.
type lab struct {
	dir string
	// suites are the packages whose tests are run for a mutant of a package, its own first.
	suites map[string][]string
	// limits are how long the tests of a package may take.
	limits map[string]time.Duration

	compiling sync.Mutex // the importer is not safe for concurrent use
}

// result is what came of one mutant.
type result struct {
	mutant    *mutant
	noticedBy string // the package whose tests failed, "" if the mutant survived
	err       error  // it could not be tested
}

const (
	// slowness is how many times longer than without a mutant the tests of a package may take.
	slowness = 4
	// leastLimit is the shortest limit: a machine that is busy with something else is not a mutant that hangs.
	leastLimit = 20 * time.Second
	// memory limits the address space of the go command and of the tests, in KiB: a mutant may allocate without end.
	memory = 12 << 20
)

// newLab runs the tests without a mutant: they must pass, in the second run at least, and what they take sets the limits.
func newLab(ctx context.Context) (*lab, error) {
	l := &lab{suites: map[string][]string{}, limits: map[string]time.Duration{}}
	above, err := importers()
	if err != nil {
		return nil, err
	}
	for _, target := range targets {
		l.suites[target] = above[target]
	}
	for _, p := range slices.Concat(targets, observers) {
		took, out, err := l.withoutMutant(ctx, p)
		if err != nil {
			fmt.Fprintf(os.Stderr, "mutation: the tests of %s failed without a mutant, and are run once more: %v\n%s\n", p, err, out)
			took, out, err = l.withoutMutant(ctx, p)
		}
		if err != nil {
			return nil, fmt.Errorf("the tests of %s do not pass without a mutant: %w\n%s", p, err, out)
		}
		l.limits[p] = max(leastLimit, slowness*took)
	}
	l.dir, err = os.MkdirTemp("", "mutation")
	return l, err
}

// withoutMutant runs the tests of a package, and returns how long they took.
func (l *lab) withoutMutant(ctx context.Context, p string) (time.Duration, []byte, error) {
	start := time.Now()
	out, err := l.goCommand(ctx, "test", "-count=1", "-vet=all", p)
	return time.Since(start), out, err
}

func (l *lab) close() { _ = os.RemoveAll(l.dir) }

// importers returns for each package itself and those of targets and observers that import it, tests included, in their
// order.
func importers() (map[string][]string, error) {
	all := slices.Concat(targets, observers)
	above := map[string][]string{}
	for _, p := range all {
		out, err := goCommand("list", "-deps", "-test", "-json=Dir", p)
		if err != nil {
			return nil, err
		}
		deps := map[string]bool{}
		for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
			var dep struct{ Dir string }
			if err := d.Decode(&dep); err != nil {
				return nil, err
			}
			deps[dep.Dir] = true
		}
		for _, below := range all {
			dir, err := filepath.Abs(below)
			if err != nil {
				return nil, err
			}
			if deps[dir] {
				above[below] = append(above[below], p)
			}
		}
	}
	return above, nil
}

// test tests mutants in their order until n of them were valid. Which these are does not depend on the number of
// workers: no more are begun than can be needed.
func (l *lab) test(ctx context.Context, drawn []*mutant, o options) []result {
	valid := map[int]result{}
	for begun := 0; len(valid) < o.n && begun < len(drawn) && ctx.Err() == nil; {
		batch := min(o.n-len(valid), len(drawn)-begun)
		l.batch(ctx, drawn[begun:begun+batch], o, func(i int, r result) { valid[begun+i] = r })
		begun += batch
	}
	var results []result
	for _, i := range slices.Sorted(maps.Keys(valid)) {
		results = append(results, valid[i])
	}
	return results
}

// batch tests mutants at the same time, as many as there are workers, and passes on what came of the valid ones.
func (l *lab) batch(ctx context.Context, mutants []*mutant, o options, valid func(i int, r result)) {
	var mu sync.Mutex
	var done sync.WaitGroup
	numbers := make(chan int)
	for range min(o.workers, len(mutants)) {
		done.Go(func() {
			for i := range numbers {
				if r, ok := l.one(ctx, mutants[i]); ok && ctx.Err() == nil {
					mu.Lock()
					r.tell(o)
					valid(i, r)
					mu.Unlock()
				}
			}
		})
	}
	for i := range mutants {
		numbers <- i
	}
	close(numbers)
	done.Wait()
}

// one tests one mutant; ok is false if it does not compile or does not pass vet, so that it is none.
func (l *lab) one(ctx context.Context, m *mutant) (r result, ok bool) {
	l.compiling.Lock()
	compiles := m.source.compiles(m)
	l.compiling.Unlock()
	if !compiles || ctx.Err() != nil {
		return result{}, false
	}
	dir, err := os.MkdirTemp(l.dir, "")
	if err != nil {
		return result{mutant: m, err: err}, true
	}
	defer os.RemoveAll(dir)
	overlay, err := writeOverlay(dir, m)
	if err != nil {
		return result{mutant: m, err: err}, true
	}
	for i, p := range l.suites[m.source.path] {
		vet := "-vet=off"
		if i == 0 {
			vet = "-vet=all"
		}
		limit := fmt.Sprintf("-timeout=%v", l.limits[p])
		out, err := l.goCommand(ctx, "test", "-overlay", overlay, "-count=1", "-failfast", vet, limit, p)
		switch {
		case err == nil:
		case bytes.Contains(out, []byte("[build failed]")): // what vet finds included
			return result{}, false
		default:
			return result{mutant: m, noticedBy: p}, true
		}
	}
	return result{mutant: m}, true
}

// writeOverlay writes the mutant and the file that makes the go command see it.
func writeOverlay(dir string, m *mutant) (string, error) {
	changed := filepath.Join(dir, "mutant.go")
	if err := os.WriteFile(changed, m.mutated(), 0o600); err != nil {
		return "", err
	}
	original := filepath.Join(m.source.dir, filepath.Base(m.file.name))
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}

// goCommand runs the go command with limited memory, without a real server, and returns all that it prints.
func (l *lab) goCommand(ctx context.Context, args ...string) ([]byte, error) {
	limited := append([]string{"-c", `ulimit -v "$0" && exec go "$@"`, strconv.Itoa(memory)}, args...)
	cmd := exec.CommandContext(ctx, "sh", limited...)
	cmd.Env = slices.DeleteFunc(os.Environ(), isForRealServers)
	return cmd.CombinedOutput()
}

// isForRealServers reports whether a variable makes tests ask a server that is not part of them.
func isForRealServers(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return name == "CI" || name == "HOLDFAST_MONGODB_URI"
}
