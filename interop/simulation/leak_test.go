package simulation

import (
	"runtime"
	"strings"
	"testing/synctest"
	"time"
)

// awaitNoConnections waits until the servers have no connection any more. A server that streams hellos notices the end of a
// connection when its next hello is due, or that after it.
func (c *cast) awaitNoConnections() {
	const patience = 25 * time.Second
	deadline := time.Now().Add(patience)
	for c.rs.Counters().Current > 0 {
		if time.Now().After(deadline) {
			c.history.violated("leak", "%d connections are open %v after all clients have ended", c.rs.Counters().Current, patience)
			return
		}
		pause(10 * time.Millisecond)
	}
}

func pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}

// checkBubble checks that the calling goroutine's bubble has only the goroutines that it had before.
func checkBubble(h *history, before map[string]string) {
	synctest.Wait()
	compareGoroutines(h, before)
}

// compareGoroutines reports the goroutines that were not there before.
func compareGoroutines(h *history, before map[string]string) {
	var others []string
	for id, stack := range bubble() {
		if _, was := before[id]; !was {
			others = append(others, stack)
		}
	}
	if len(others) > 0 {
		h.violated("leak", "%d goroutines are left:\n%s", len(others), strings.Join(others, "\n\n"))
	}
}

// bubble returns the stacks of the goroutines of the caller's bubble, by their ids.
func bubble() map[string]string {
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
