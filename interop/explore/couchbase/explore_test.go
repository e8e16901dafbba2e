package couchbase

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	explore "github.com/holdfast-db/holdfast/explore/couchbase"
)

var planted = flag.Bool("planted", false, "explore the program with its mistake, which fails")

// few are the failures of these tests, since a run over TCP takes as long as the SDK's own waits: five seconds after a node was killed. A
// failover is not among them. When the node that was failed over answers "not my vbucket" with a map that does not have it any more, gocbcore
// 10.9.3 closes the connection in the goroutine that reads from it, and there waits for that goroutine's end.
var few = explore.Failures(explore.RequestLost, explore.ReplyLost, explore.KilledAfter, explore.MovedAfter, explore.Refused(0x86))

func TestAProgramWithoutAMistakeIsSilent(t *testing.T) {
	t.Parallel()
	explore.Run(t, func(e *explore.Exploration) {
		err := countOnce(connect(e), "ada")
		e.Logf("countOnce returned %v", err)
		e.Check(func() error {
			var now visits
			if d, there := e.Cluster().Document("default", "visits"); there {
				if err := json.Unmarshal(d.Value, &now); err != nil {
					return err
				}
			}
			if now.Count > 1 || err == nil && now.Count != 1 {
				return fmt.Errorf("%d visits are counted", now.Count)
			}
			return nil
		})
	}, few)
}

// TestPlanted fails. TestABlindIncrementIsFound runs it.
func TestPlanted(t *testing.T) {
	if !*planted {
		t.Skip("only with -planted")
	}
	explore.Run(t, func(e *explore.Exploration) {
		e.Logf("countBlindly returned %v", countBlindly(connect(e)))
		e.Check(func() error {
			if d, there := e.Cluster().Document("default", "visits"); there && string(d.Value) != "1" {
				return fmt.Errorf("%s visits are counted", d.Value)
			}
			return nil
		})
	}, few)
}

func TestABlindIncrementIsFound(t *testing.T) {
	t.Parallel()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPlanted$", "-planted")
	out, err := child.CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		"message 1 of 1 (increment default/visits): the reply is lost after the node executed it", "the check found: 2 visits are counted",
		"HOLDFAST_EXPLORE='increment/default/visits/1:reply-lost' go test -run '^TestPlanted$'",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the report has no %q:\n%s", want, out)
		}
	}
}
