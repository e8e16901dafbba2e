package simcheck

import (
	"context"
	"runtime"
	"strings"
	"time"
)

// Goroutines returns the stacks of the goroutines of the caller's bubble, by their ids.
func Goroutines() map[string]string {
	all := strings.Split(stacks(), "\n\n")
	mine, list := bubbleOf(all[0]), make(map[string]string)
	for _, s := range all {
		if bubbleOf(s) == mine {
			id, _, _ := strings.Cut(s, " [")
			list[id] = s
		}
	}
	return list
}

// Left returns the stacks of the goroutines of the caller's bubble that were not there before.
func Left(before map[string]string) []string {
	var others []string
	for id, stack := range Goroutines() {
		if _, was := before[id]; !was {
			others = append(others, stack)
		}
	}
	return others
}

// AwaitGoroutines waits until the process has no more goroutines than before. It reports how many more there are when ctx ends, with
// all stacks.
func AwaitGoroutines(ctx context.Context, before int) (left int, all string) {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for runtime.NumGoroutine() > before {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return runtime.NumGoroutine() - before, stacks()
		}
	}
	return 0, ""
}

func stacks() string {
	b := make([]byte, 1<<20)
	for {
		n := runtime.Stack(b, true)
		if n < len(b) {
			return string(b[:n])
		}
		b = make([]byte, 2*len(b))
	}
}

// bubbleOf returns the name of the bubble in the first line of a stack, "goroutine 7 [running, synctest bubble 5]:".
func bubbleOf(stack string) string {
	line, _, _ := strings.Cut(stack, "\n")
	_, after, _ := strings.Cut(line, "synctest bubble ")
	name, _, _ := strings.Cut(after, "]")
	name, _, _ = strings.Cut(name, ",")
	return name
}
