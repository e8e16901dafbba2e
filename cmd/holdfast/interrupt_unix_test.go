//go:build unix

package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/mongotest"
)

// A script's shell has the programs ignore SIGINT that it starts in the background. The second one ends the program nevertheless.
func TestASecondInterruptInTheBackground(t *testing.T) {
	cmd := asHoldfast(t, "router", "--listen", "127.0.0.1:0", "--upstream", mongotest.RunReplicaSetT(t, 3).URI(), "--quiesce", "1h")
	cmd.Args = append([]string{"sh", "-c", `trap "" INT; exec "$@"`, "sh", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	p := &program{cmd: cmd}
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	defer p.stop()
	says := func(text string) {
		t.Helper()
		if err := p.until(func(all string) bool { return strings.Contains(all, text) }); err != nil {
			t.Fatalf("%v: %s", err, p.all.String())
		}
	}
	says(" Ready: ")
	_, rest, _ := strings.Cut(p.all.String(), "mongodb://")
	address, _, _ := strings.Cut(rest, "/")
	client := connected(t, "mongodb://"+address+"/?loadBalanced=true") // it keeps the router in its quiesce
	if err := client.Ping(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Process.Signal(os.Interrupt)
	says("Quiesces: ")
	tick := time.NewTicker(sameInterrupt) // a signal that comes sooner is taken for the first one
	defer tick.Stop()
	for limit := time.After(programLimit); ; {
		select {
		case <-tick.C:
			_ = p.cmd.Process.Signal(os.Interrupt)
		case <-p.ended:
			if code := exitCodeOf(p.cmd.ProcessState); code != 128+2 {
				t.Errorf("it ended with %v: %s", p.err, p.all.String())
			}
			return
		case <-limit:
			t.Fatalf("the router does not end: %s", p.all.String())
		}
	}
}
