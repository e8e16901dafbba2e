package main

import (
	"bytes"
	"context"
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
	dir    string
	module func() (module, error)

	mu        sync.Mutex
	limits    map[string]*limit // of the tests of each package
	compiling sync.Mutex        // the importer is not safe for concurrent use
}

// limit is how long the tests of a package may take. It is measured when they are first needed.
type limit struct {
	once sync.Once
	most time.Duration
	err  error // they do not pass without a mutant
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

func newLab() (*lab, error) {
	dir, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return nil, err
	}
	return &lab{dir: dir, module: sync.OnceValues(listModule), limits: map[string]*limit{}}, nil
}

func (l *lab) close() { _ = os.RemoveAll(l.dir) }

// limit returns how long the tests of a package may take. Without a mutant they must pass, in the second run at least, and
// what they take sets the limit.
func (l *lab) limit(ctx context.Context, p string) (time.Duration, error) {
	l.mu.Lock()
	of := l.limits[p]
	if of == nil {
		of = new(limit)
		l.limits[p] = of
	}
	l.mu.Unlock()
	of.once.Do(func() {
		took, out, err := l.withoutMutant(ctx, p)
		if err != nil && ctx.Err() == nil {
			fmt.Fprintf(os.Stderr, "mutation: the tests of %s failed without a mutant, and are run once more: %v\n%s\n", p, err, out)
			took, out, err = l.withoutMutant(ctx, p)
		}
		if of.most = max(leastLimit, slowness*took); err != nil {
			of.err = fmt.Errorf("the tests of %s do not pass without a mutant: %w\n%s", p, err, out)
		}
	})
	return of.most, of.err
}

// withoutMutant runs the tests of a package, and returns how long they took.
func (l *lab) withoutMutant(ctx context.Context, p string) (time.Duration, []byte, error) {
	start := time.Now()
	out, err := l.goCommand(ctx, "test", "-count=1", "-vet=all", p)
	return time.Since(start), out, err
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
	overlay, err := writeOverlay(dir, map[string][]byte{filepath.Join(m.source.dir, filepath.Base(m.file.name)): m.mutated()})
	if err != nil {
		return result{mutant: m, err: err}, true
	}
	all, err := l.module()
	if err != nil {
		return result{mutant: m, err: err}, true
	}
	for i, p := range observers(all, m.source.path) {
		vet := "-vet=off"
		if i == 0 {
			vet = "-vet=all"
		}
		most, err := l.limit(ctx, p)
		if err != nil {
			return result{mutant: m, err: err}, true
		}
		out, err := l.goCommand(ctx, "test", "-overlay", overlay, "-count=1", "-failfast", vet, fmt.Sprintf("-timeout=%v", most), p)
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
