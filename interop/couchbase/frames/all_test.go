package frames

import (
	"maps"
	"slices"
	"testing"

	"github.com/holdfast-db/holdfast/interop/couchbase/frames/calls"
	"github.com/holdfast-db/holdfast/interop/internal/swap"
)

var (
	plain = []string{"PLAIN"}
	scram = []string{"SCRAM-SHA512", "SCRAM-SHA256", "SCRAM-SHA1"}
)

// situations are all calls and all ways to log in.
var situations = map[string]situation{
	"every operation and option":  {mechanisms: plain, steps: calls.Steps()},
	"reads of a server group":     {mechanisms: plain, serverGroup: "second", steps: calls.GroupSteps()},
	"writes without tokens":       {mechanisms: plain, withoutTokens: true, version: "6.0.0", steps: calls.ObserveSteps()},
	"login with SCRAM":            {mechanisms: scram},
	"login with SCRAM-SHA512":     {mechanisms: []string{"SCRAM-SHA512"}},
	"login with SCRAM-SHA256":     {mechanisms: []string{"SCRAM-SHA256"}},
	"login with SCRAM-SHA1":       {mechanisms: []string{"SCRAM-SHA1"}},
	"login with one of several":   {mechanisms: []string{"SCRAM-SHA256", "PLAIN", "SCRAM-SHA512"}},
	"login of an odd user":        {user: "a,b=c=2C é", mechanisms: scram},
	"login of an odd user, PLAIN": {user: "a,b=c=2C é", mechanisms: plain},
	"TLS":                         {tls: true, mechanisms: plain},
	"TLS and a token":             {tls: true, token: "a.json.token_-="},
	"TLS and SCRAM":               {tls: true, mechanisms: []string{"SCRAM-SHA512"}},
	"TLS and a certificate":       {tls: true, certificate: true},
}

// comparison counts.
type comparison struct{ calls, unexplained, explained int }

// TestRecord plays every situation with the client that is imported.
func TestRecord(t *testing.T) {
	swap.Record(t, func() map[string]recording {
		all := make(map[string]recording)
		for name, s := range situations {
			all[name] = s.record(t)
		}
		return all
	})
}

// TestThePacketsAreThoseOfGocb compares the packets of all operations and options byte for byte, and those of the logins.
func TestThePacketsAreThoseOfGocb(t *testing.T) {
	gocb := swap.Recorded[map[string]recording](t, swap.Official(t, "^TestRecord$"))
	ours := swap.Recorded[map[string]recording](t, swap.Ours(t, "^TestRecord$", 4))
	var c comparison
	known := make(map[string]bool)
	for _, name := range slices.Sorted(maps.Keys(situations)) {
		t.Run(name, func(t *testing.T) {
			want, got := gocb[name], ours[name]
			for name := range want.Steps {
				known[name] = true
			}
			c.steps(t, got, want)
			c.handshake(t, got.Handshake, want.Handshake)
		})
	}
	for name := range differences {
		if !known[name] {
			t.Errorf("there is no step %q", name)
		}
	}
	t.Logf("%d calls were compared; %d differ, with a reason", c.calls, c.explained)
	t.Logf("\nfigure cb-bytes-unexplained %d", c.unexplained)
}

// steps compares the packets of calls.
func (c *comparison) steps(t *testing.T, got, want recording) {
	t.Helper()
	c.calls += len(want.Steps)
	for _, name := range slices.Sorted(maps.Keys(want.Steps)) {
		reason := differences[name]
		switch {
		case want.Steps[name] == "":
			t.Errorf("%s: gocb sent nothing", name)
		case got.Steps[name] != want.Steps[name] && reason == "":
			c.unexplained++
			t.Errorf("%s:\n--- ours\n%s\n--- gocb\n%s", name, got.Steps[name], want.Steps[name])
		case got.Steps[name] == want.Steps[name] && reason != "":
			t.Errorf("%s: the packets are the same; delete its row", name)
		case reason != "" && !onlyFor(reason, name, got, want):
			c.unexplained++
			t.Errorf("%s: the packets do not only differ because %s:\n--- ours\n%s\n--- gocb\n%s", name, reason, got.Steps[name], want.Steps[name])
		case reason != "":
			c.explained++
		}
	}
}

// handshake compares the packets from the connect to the first map.
func (c *comparison) handshake(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		c.unexplained++
		t.Errorf("handshake:\n--- ours\n%s\n--- gocb\n%s", got, want)
	}
}
