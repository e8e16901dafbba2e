package mongofault

import (
	"slices"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/mongotest"
)

// answered returns what a failure makes of the reply to a message, and whether the failure did not happen.
func answered(f Failure, r *mongotest.Request, reply *mongotest.Reply) (changed *mongotest.Reply, missed bool) {
	s := &Strike{}
	changed = f.Apply(s)(r, func(*mongotest.Request) *mongotest.Reply { return reply })
	return changed, s.happening.Missed
}

func TestOnlyARetryableWriteGetsTheLabelWithItsWriteConcernError(t *testing.T) {
	for _, c := range []struct {
		code      mongotest.Code
		txnNumber int64
		labelled  bool
	}{{91, 1, true}, {91, -1, false}, {64, 1, false}} {
		reply, missed := answered(WriteConcernFailed(c.code), &mongotest.Request{TxnNumber: c.txnNumber}, mongotest.NewReply(bson.D{{Key: "n", Value: 1}}))
		_, err := reply.Body.LookupErr("errorLabels")
		if missed || (err == nil) != c.labelled {
			t.Errorf("%+v: missed %t, %v", c, missed, reply.Body)
		}
	}
}

func TestAWriteThatIsRefusedHasNoWriteConcernError(t *testing.T) {
	refused := &mongotest.Reply{Error: &mongotest.CommandError{Code: 2}}
	if reply, missed := answered(WriteConcernFailed(64), &mongotest.Request{}, refused); !missed || reply != refused {
		t.Errorf("missed %t, %+v", missed, reply)
	}
}

func TestAnOverloadedServerSaysThatNothingWasWritten(t *testing.T) {
	reply, _ := answered(Overload, &mongotest.Request{}, nil)
	if !slices.Contains(reply.Error.Labels, "NoWritesPerformed") || !slices.Contains(reply.Error.Labels, "RetryableError") {
		t.Errorf("%q", reply.Error.Labels)
	}
}

func TestWhichMessagesAFailureConcerns(t *testing.T) {
	statement := explore.Message{Command: "update", Session: true, Transaction: true}
	commit := explore.Message{Command: "commitTransaction", Session: true, Transaction: true, Write: true}
	abort := explore.Message{Command: "abortTransaction", Session: true, Transaction: true}
	alone := explore.Message{Command: "update", Session: true, Write: true}
	for _, c := range []struct {
		failure Failure
		want    []bool // of the four messages
	}{
		{writeConflict, []bool{true, false, false, false}},
		{SessionExpired, []bool{true, true, true, false}},
		{KilledDuring, []bool{false, true, false, true}},
		{CursorLost, []bool{false, false, false, false}},
	} {
		for i, m := range []explore.Message{statement, commit, abort, alone} {
			if c.failure.Concerns(m) != c.want[i] {
				t.Errorf("%s, %+v: %t", c.failure.Name, m, !c.want[i])
			}
		}
	}
}

func TestWhatAMessageDoes(t *testing.T) {
	for _, c := range []struct {
		command string
		body    bson.D
		want    explore.Message
	}{
		{"update", bson.D{{Key: "update", Value: "orders"}}, explore.Message{Command: "update", Target: "shop.orders", Write: true}},
		{
			"update",
			bson.D{{Key: "update", Value: "orders"}, {Key: "autocommit", Value: false}},
			explore.Message{Command: "update", Target: "shop.orders", Transaction: true},
		},
		{
			"commitTransaction",
			bson.D{{Key: "commitTransaction", Value: 1}, {Key: "autocommit", Value: false}},
			explore.Message{Command: "commitTransaction", Target: "shop", Transaction: true, Write: true},
		},
		{
			"getMore",
			bson.D{{Key: "getMore", Value: int64(7)}, {Key: "collection", Value: "orders"}},
			explore.Message{Command: "getMore", Target: "shop.orders", Cursor: true},
		},
		{
			"bulkWrite",
			bson.D{{Key: "bulkWrite", Value: 1}, {Key: "nsInfo", Value: bson.A{bson.D{{Key: "ns", Value: "shop.carts"}}}}},
			explore.Message{Command: "bulkWrite", Target: "shop.carts", Write: true},
		},
	} {
		body, err := bson.Marshal(c.body)
		if err != nil {
			t.Fatal(err)
		}
		if got := describe(&mongotest.Request{Command: c.command, Database: "shop", Body: body}); got != c.want {
			t.Errorf("%v: %+v, wanted %+v", c.body, got, c.want)
		}
	}
}

// Failures of several members are only for servers that have them.
func TestOneMemberDoesNotStepDown(t *testing.T) {
	for members, want := range map[int]bool{0: false, 1: false, 2: true, 3: true} {
		s := Settings{Members: members, Failures: All()}
		for _, name := range []string{StepDownBefore.Name, KilledDuring.Name, Partitioned.Name} {
			if got := slices.ContainsFunc(s.Kinds(), func(f explore.Failure) bool { return f.Name == name }); got != want {
				t.Errorf("%d members, %s: %t", members, name, got)
			}
		}
	}
}

// A failure of a member does not happen while a mongos knows no primary, or if the server cannot do it.
func TestAFailureThatCannotHappenIsMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		alone := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
		for name, do := range map[string]func(*Strike){
			"kill": (*Strike).kill, "isolate": (*Strike).isolate,
		} {
			s := &Strike{Deployment: alone, Member: -1}
			if do(s); !s.happening.Missed {
				t.Errorf("%s: it happened", name)
			}
		}
		s := &Strike{Deployment: alone}
		if s.stepDown(); !s.happening.Missed {
			t.Error("the only member stepped down")
		}
		alone.Kill(0)
		endSession(s)(&mongotest.Request{LSID: bson.Raw{5, 0, 0, 0, 0}}, func(*mongotest.Request) *mongotest.Reply { return nil })
		if !s.happening.Missed {
			t.Error("a dead server ended a session")
		}
	})
}
