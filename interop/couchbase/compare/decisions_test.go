package compare

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocb "github.com/couchbase/gocb/v2"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

type decider func(c *gocb.Collection, id string, ctx context.Context, timeout time.Duration) error

// deciders are the operations whose errors decide.
var deciders = map[string]decider{
	"get": func(c *gocb.Collection, id string, ctx context.Context, timeout time.Duration) error {
		_, err := c.Get(id, &gocb.GetOptions{Context: ctx, Timeout: timeout})
		return err
	},
	"exists": func(c *gocb.Collection, id string, ctx context.Context, timeout time.Duration) error {
		_, err := c.Exists(id, &gocb.ExistsOptions{Context: ctx, Timeout: timeout})
		return err
	},
	"insert": func(c *gocb.Collection, id string, ctx context.Context, timeout time.Duration) error {
		_, err := c.Insert(id, 1, &gocb.InsertOptions{Context: ctx, Timeout: timeout})
		return err
	},
	"upsert": func(c *gocb.Collection, id string, ctx context.Context, timeout time.Duration) error {
		_, err := c.Upsert(id, 1, &gocb.UpsertOptions{Context: ctx, Timeout: timeout})
		return err
	},
	"replace": func(c *gocb.Collection, id string, ctx context.Context, timeout time.Duration) error {
		_, err := c.Replace(id, 1, &gocb.ReplaceOptions{Context: ctx, Timeout: timeout})
		return err
	},
	"remove": func(c *gocb.Collection, id string, ctx context.Context, timeout time.Duration) error {
		_, err := c.Remove(id, &gocb.RemoveOptions{Context: ctx, Timeout: timeout})
		return err
	},
	"append": func(c *gocb.Collection, id string, ctx context.Context, timeout time.Duration) error {
		_, err := c.Binary().Append(id, []byte("x"), &gocb.AppendOptions{Context: ctx, Timeout: timeout})
		return err
	},
	"increment": func(c *gocb.Collection, id string, ctx context.Context, timeout time.Duration) error {
		_, err := c.Binary().Increment(id, &gocb.IncrementOptions{Delta: 1, Context: ctx, Timeout: timeout})
		return err
	},
	"touch": func(c *gocb.Collection, id string, ctx context.Context, timeout time.Duration) error {
		_, err := c.Touch(id, time.Hour, &gocb.TouchOptions{Context: ctx, Timeout: timeout})
		return err
	},
	"unlock": func(c *gocb.Collection, id string, ctx context.Context, timeout time.Duration) error {
		return c.Unlock(id, 1, &gocb.UnlockOptions{Context: ctx, Timeout: timeout})
	},
	"mutate in": func(c *gocb.Collection, id string, ctx context.Context, timeout time.Duration) error {
		_, err := c.MutateIn(id, []gocb.MutateInSpec{gocb.UpsertSpec("p", 1, nil)}, &gocb.MutateInOptions{Context: ctx, Timeout: timeout})
		return err
	},
	"look up in": func(c *gocb.Collection, id string, ctx context.Context, timeout time.Duration) error {
		r, err := c.LookupIn(id, []gocb.LookupInSpec{gocb.GetSpec("p", nil)}, &gocb.LookupInOptions{Context: ctx, Timeout: timeout})
		if err == nil {
			err = r.ContentAt(0, new(any))
		}
		return err
	},
}

func status(s couchbasetest.Status) couchbasetest.Fault { return couchbasetest.Fault{Status: s} }

const (
	temporary couchbasetest.Status = 0x86
	isLocked  couchbasetest.Status = 0x09
)

// faultScripts are the faults of an operation's attempts, by their name. The last one is repeated.
func faultScripts() map[string][]couchbasetest.Fault {
	all := map[string][]couchbasetest.Fault{
		"always temporary":                  {status(temporary)},
		"always locked":                     {status(isLocked)},
		"no answer":                         {{Delay: time.Minute}},
		"lost request, then no fault":       {{LoseRequest: true}, {}},
		"lost reply, then no fault":         {{LoseReply: true}, {}},
		"no fault":                          {{}},
		"temporary, then no fault":          {status(temporary), {}},
		"temporary twice, then no fault":    {status(temporary), status(temporary), {}},
		"lost reply, then does not exist":   {{LoseReply: true}, status(0x01)},
		"lost request, then does not exist": {{LoseRequest: true}, status(0x01)},
	}
	for _, s := range []couchbasetest.Status{0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x22, 0x23, 0x24, 0x81, 0x82, 0x83, 0x84, 0xa0, 0xa1, 0xa3, 0xc6, 0xcb, 0x0e, 0x30, 0x33, 0xee} {
		all[fmt.Sprintf("status 0x%02x", uint16(s))] = []couchbasetest.Fault{status(s)}
	}
	for _, s := range []couchbasetest.Status{0x01, 0x02, 0x03, 0x05, 0x83} {
		all[fmt.Sprintf("temporary, then status 0x%02x", uint16(s))] = []couchbasetest.Fault{status(temporary), status(s)}
		all[fmt.Sprintf("temporary twice, then status 0x%02x", uint16(s))] = []couchbasetest.Fault{status(temporary), status(temporary), status(s)}
	}
	return all
}

// scripted follows a script for each document, whose id is NAME/SCRIPT.
type scripted struct {
	mu      sync.Mutex
	scripts map[string][]couchbasetest.Fault
	seen    map[string]int
}

func (s *scripted) decide(r *couchbasetest.Request) couchbasetest.Fault {
	_, name, isOurs := strings.Cut(r.Key, "/")
	s.mu.Lock()
	defer s.mu.Unlock()
	script := s.scripts[name]
	if !isOurs || script == nil {
		return couchbasetest.Fault{}
	}
	n := min(s.seen[r.Key], len(script)-1)
	s.seen[r.Key]++
	return script[n]
}

// decisions returns what a program decides by an error.
func decisions(err error) string {
	if err == nil {
		return "no error"
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(sentinels)) {
		if errors.Is(err, sentinels[name]) {
			parts = append(parts, "is "+name)
		}
		if err == sentinels[name] { //nolint:errorlint // programs do
			parts = append(parts, "== "+name)
		}
	}
	switch err.(type) { //nolint:errorlint // programs do
	case *gocb.KeyValueError:
		parts = append(parts, "switch *KeyValueError")
	case *gocb.TimeoutError:
		parts = append(parts, "switch *TimeoutError")
	case *gocb.GenericError:
		parts = append(parts, "switch *GenericError")
	}
	var kv *gocb.KeyValueError
	if errors.As(err, &kv) {
		parts = append(parts, fmt.Sprintf("as *KeyValueError with status %d", uint16(kv.StatusCode)))
		for _, name := range slices.Sorted(maps.Keys(sentinels)) {
			if kv.InnerError == sentinels[name] { //nolint:errorlint // programs do
				parts = append(parts, "its cause == "+name)
			}
		}
	}
	var timeout *gocb.TimeoutError
	if errors.As(err, &timeout) {
		parts = append(parts, "as *TimeoutError of "+timeout.OperationID)
	}
	for _, c := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, c) {
			parts = append(parts, "is "+c.Error())
		}
	}
	return strings.Join(parts, ", ")
}

// TestPrintDecisions prints what a program decides by the errors of one, two and three attempts, of timeouts and of ended contexts.
func TestPrintDecisions(t *testing.T) {
	server := couchbasetest.RunT(t, couchbasetest.Nodes(2))
	s := &scripted{scripts: faultScripts(), seen: make(map[string]int)}
	server.Use(couchbasetest.AnyOpcode, couchbasetest.Decide(s.decide))
	c := connected(t, server).DefaultCollection()
	each(func(op string, do decider) (lines []string) {
		for script := range s.scripts {
			if !alone(script) && fits(op, script) {
				lines = append(lines, decision(op, script, do(c, op+"/"+script, context.Background(), timeOf(script))))
			}
		}
		cancelled, cancel := context.WithCancel(context.Background())
		cancel()
		return append(lines, decision(op, "a cancelled context", do(c, op+" cancelled", cancelled, time.Minute)))
	})
	for op, do := range deciders {
		for script := range s.scripts {
			if alone(script) {
				fmt.Println(decision(op, script, do(c, op+"/"+script, context.Background(), timeOf(script))))
			}
		}
	}
	for i := range 2 {
		server.Kill(i)
	}
	for i := range 10 { // of both nodes: the client knows then that its connections are lost
		_, _ = c.Get(fmt.Sprint("lost ", i), &gocb.GetOptions{Timeout: 300 * time.Millisecond})
	}
	each(func(op string, do decider) []string {
		return []string{decision(op, "no server", do(c, op+" alone", context.Background(), 300*time.Millisecond))}
	})
}

// alone reports whether a script takes the connection from the operations beside it: it ends, or seems to be dead. After the statuses 0x23 and
// 0x84 our client closes it, because of their attributes in the error map (special-handling, conn-state-invalidated).
func alone(script string) bool {
	return strings.HasPrefix(script, "lost") || script == "no answer" || script == "status 0x23" || script == "status 0x84"
}

// timeOf returns the timeout of a script: it passes only where nothing else ends the operation. Where each attempt is answered, the last one
// begins long before it, also on a machine that is busy: after 656 ms, and the next one would begin after 1656.
func timeOf(script string) time.Duration {
	switch {
	case strings.HasPrefix(script, "always"), script == "status 0x82":
		return 1600 * time.Millisecond
	case script == "no answer":
		return 500 * time.Millisecond
	}
	return 20 * time.Second
}

// fits reports whether a server can answer an operation so: status 0xcb is one of sub-document operations.
func fits(op, script string) bool { return script != "status 0xcb" || strings.HasSuffix(op, " in") }

func decision(op, script string, err error) string {
	return fmt.Sprintf("case decisions, %s, %s => %s", script, op, decisions(err))
}

// each runs all operations at the same time, and prints their lines.
func each(run func(op string, do decider) []string) {
	var group sync.WaitGroup
	for op, do := range deciders {
		group.Go(func() {
			fmt.Println(strings.Join(run(op, do), "\n"))
		})
	}
	group.Wait()
}
