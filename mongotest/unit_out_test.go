package mongotest_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// waitingOut is an $out into c that has filled its temporary collection and waits for a transaction that has written to c.
func waitingOut(t *testing.T, more string, test func(t *testing.T, p *players, answered <-chan bson.Raw)) {
	t.Helper()
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		p := newPlayers(t, rs)
		p.play("- | PUT 1 1 | n 1\n" + `- | {"insert": "s", "documents": [{"_id": 8, "n": 8}, {"_id": 9, "n": 9}]} | n 2` + "\nA+ | SET 1 2 | n 1")
		answered := p.begin("W.", outCommand(more))
		if temporary(p) == "" {
			t.Fatal("there is no temporary collection")
		}
		test(t, p, answered)
	})
}

func outCommand(more string) string {
	return `{"aggregate": "s", "pipeline": [{"$out": "c"}], "cursor": {}` + more + `}`
}

// temporary returns the name of the temporary collection at a member, "" if there is none.
func temporary(p *players) string {
	reply := p.run("-", `{"listCollections": 1, "nameOnly": true, "$readPreference": {"mode": "nearest"}}`)
	values, _ := reply.Lookup("cursor", "firstBatch").Array().Values()
	for _, v := range values {
		if name := v.Document().Lookup("name").StringValue(); strings.HasPrefix(name, "tmp.") {
			return name
		}
	}
	return ""
}

// What ends an $out in the middle leaves the target as it was, and no temporary collection at any member.
func TestAnOutThatEndsInTheMiddleLeavesNothing(t *testing.T) {
	for name, test := range map[string]struct {
		more    string
		happens func(p *players)
		want    string // "" if the connection ends
	}{
		"a step-down": {"", func(p *players) { must[any](p.t)(nil, p.rs.StepDown()) }, "189"},
		"the end of the primary": {"", func(p *players) {
			p.rs.Kill(0)
			must[any](p.t)(p.rs.WaitPrimary(context.Background()))
			p.rs.Restart(0)
		}, ""},
		"a primary that is cut off": {"", func(p *players) {
			p.rs.Partition([]int{0}, []int{1, 2})
			pass(20 * time.Second)
			p.rs.Heal()
		}, "189"},
		"the time limit": {`, "maxTimeMS": 300`, func(*players) { pass(time.Second) }, "50"},
		"its client":     {"", func(p *players) { _ = p.clients["W"].conn.Close(); pass(time.Second) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			waitingOut(t, test.more, func(t *testing.T, p *players, answered <-chan bson.Raw) {
				test.happens(p)
				reply := <-answered
				if got := brief(reply); reply == nil != (test.want == "") || reply != nil && got != test.want {
					t.Errorf("answered %v, want %q", reply, test.want)
				}
				pass(time.Second)
				must[any](t)(nil, p.rs.WaitIdle(context.Background()))
				for i := range 3 {
					other := newPlayers(t, p.rs)
					other.at = i
					other.play(`- | {"find": "c", "$readPreference": {"mode": "nearest"}} | 1:1`)
					if left := temporary(other); left != "" {
						t.Errorf("member %d has %s", i, left)
					}
				}
			})
		})
	}
}

// An $out replaces its target only if nobody has replaced it meanwhile.
func TestAnOutRefusesATargetThatChanged(t *testing.T) {
	waitingOut(t, "", func(t *testing.T, p *players, first <-chan bson.Raw) {
		second := p.begin("V.", outCommand(""))
		p.play("A | COMMIT | ok")
		one, other := <-first, <-second
		if number(one, "ok")+number(other, "ok") != 1 || number(one, "code")+number(other, "code") != 124 {
			t.Errorf("answered %v and %v, want one success and one error 125", one, other)
		}
		p.play("- | FIND | 8:8 9:9")
		if left := temporary(p); left != "" {
			t.Errorf("%s is left", left)
		}
	})
}

// An $out whose temporary collection is dropped fails.
func TestAnOutNeedsItsTemporaryCollection(t *testing.T) {
	waitingOut(t, "", func(t *testing.T, p *players, answered <-chan bson.Raw) {
		p.run("-", `{"drop": "`+temporary(p)+`"}`)
		p.play("A | ABORT | ok")
		if got := brief(<-answered); got != "175" {
			t.Errorf("answered %q", got)
		}
		p.play("- | FIND | 1:1")
		synctest.Wait()
		if left := temporary(p); left != "" {
			t.Errorf("%s is left", left)
		}
	})
}
