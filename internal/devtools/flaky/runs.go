package main

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// processors are the values of GOMAXPROCS with which each test runs in turn.
const processors = "1,2,8"

// rounds is how many runs one round through processors is.
const rounds = 3

// runAll runs the tests that the journal does not have, until ctx ends.
func runAll(ctx context.Context, o options, tests []runnable, j *journal) error {
	var spinning atomic.Bool
	spinning.Store(true)
	defer spinning.Store(false)
	runtime.GOMAXPROCS(o.busy + 2)
	for range o.busy {
		go func() {
			for spinning.Load() {
			}
		}()
	}
	var workers sync.WaitGroup
	var failure atomic.Pointer[error]
	next := make(chan runnable)
	for range o.workers {
		workers.Go(func() {
			for t := range next {
				if err := runOne(ctx, o, t, j); err != nil {
					failure.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	for _, t := range tests {
		if _, done := j.result(t.test); done || ctx.Err() != nil {
			continue
		}
		next <- t
	}
	close(next)
	workers.Wait()
	if err := failure.Load(); err != nil {
		return *err
	}
	return nil
}

// runOne runs a test in one process, once with each number of processors, and then as often as it must: fewer times if it is slow.
func runOne(ctx context.Context, o options, t runnable, j *journal) error {
	began := time.Now()
	first := t.process(ctx, 1)
	slow := time.Since(began) > rounds*time.Second
	if interrupted(ctx) {
		return nil
	}
	r := result{Package: t.path, Test: t.name, Build: t.build, Runs: rounds, CPU: first.cpu / rounds}
	runs := o.runs
	if slow {
		runs = min(runs, o.slowRuns)
	}
	r.note(first)
	if more := (runs - 1) / rounds; first.err == nil && more > 0 {
		rest := t.process(ctx, more)
		if interrupted(ctx) {
			return nil
		}
		r.Runs += more * rounds
		r.CPU = (first.cpu + rest.cpu) / float64(r.Runs)
		r.note(rest)
	}
	fmt.Printf("%s %s: %d runs, %.3f CPU s each\n", t.path, t.name, r.Runs, r.CPU)
	return j.add(r)
}

// interrupted reports whether the run was ended from outside: then a process was killed, and its failure shows nothing.
func interrupted(ctx context.Context) bool { return ctx.Err() != nil }

// note counts a process that failed.
func (r *result) note(p process) {
	if p.err != nil {
		r.Failed++
		r.Output = fmt.Sprintf("%v\n%s", p.err, p.output)
		fmt.Printf("FAIL %s %s\n%s\n", r.Package, r.Test, r.Output)
	}
}

// process is what came of one process of a test binary.
type process struct {
	err    error
	output []byte
	cpu    float64 // seconds
}

// process runs the test count times with each number of processors.
func (t runnable) process(ctx context.Context, count int) process {
	cmd := exec.CommandContext(ctx, t.binary, "-test.run", "^"+t.name+"$", "-test.cpu", processors, "-test.count", fmt.Sprint(count),
		"-test.timeout", "60m", "-test.failfast")
	cmd.Dir = t.folder
	out, err := cmd.CombinedOutput()
	p := process{err: err, output: tail(out)}
	if s := cmd.ProcessState; s != nil {
		p.cpu = (s.UserTime() + s.SystemTime()).Seconds()
	}
	return p
}

// tail is the end of a long output.
func tail(b []byte) []byte {
	const most = 64 << 10
	return b[max(0, len(b)-most):]
}
