package operation

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

func marshal(t testing.TB, doc bson.D) []byte {
	t.Helper()
	b, err := bson.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func parsed(t testing.TB, doc bson.D) *Reply {
	t.Helper()
	r := new(Reply)
	if err := r.Parse(marshal(t, doc)); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestParseReadsTheTopLevel(t *testing.T) {
	r := parsed(t, bson.D{
		{Key: "ok", Value: 1.0},
		{Key: "n", Value: 3},
		{Key: "nModified", Value: int64(2)},
		{Key: "code", Value: 91},
		{Key: "codeName", Value: "ShutdownInProgress"},
		{Key: "errmsg", Value: "bye"},
		{Key: "errorLabels", Value: bson.A{"a", 7, "b"}},
		{Key: "writeConcernError", Value: bson.D{{Key: "code", Value: 64}}},
		{Key: "baseBackoffMS", Value: 30},
		{Key: "value", Value: bson.D{}},
	})
	labels := r.LabelTexts()
	if !r.OK || r.N != 3 || r.NModified != 2 || r.Code != 91 || string(r.CodeName) != "ShutdownInProgress" ||
		string(r.Message) != "bye" || len(labels) != 2 || labels[1] != "b" || r.writeConcernCode() != 64 ||
		r.baseBackoffMS != 30 || r.Value.Type != bson.TypeEmbeddedDocument {
		t.Errorf("%+v", r)
	}
	if !hasLabel(r.Labels, "b") || hasLabel(r.Labels, "c") || hasLabel(nil, "a") {
		t.Error("labels are not found")
	}
}

func FuzzReply(f *testing.F) {
	for _, doc := range []bson.D{
		{{Key: "ok", Value: 1}, {Key: "cursor", Value: bson.D{{Key: "id", Value: int64(1)}, {Key: "firstBatch", Value: bson.A{}}}}},
		{{Key: "ok", Value: 0}, {Key: "errorLabels", Value: bson.A{"RetryableWriteError"}}, {Key: "topologyVersion", Value: bson.D{}}},
		{{Key: "$clusterTime", Value: bson.D{{Key: "clusterTime", Value: bson.Timestamp{T: 1}}}}, {Key: "ok", Value: "no"}},
	} {
		f.Add(marshal(f, doc))
	}
	f.Fuzz(func(_ *testing.T, b []byte) {
		var r Reply
		if r.Parse(b) != nil {
			return
		}
		r.LabelTexts()
		r.writeConcernCode()
		r.overloaded()
		r.retryableWrite(&topology.Server{MaxWireVersion: 6})
		var c clock
		c.advance(r.clusterTime)
	})
}

// Source: Retryable Writes, "RetryableWriteError Labels".
func TestTheClientAddsRetryableWriteErrorForOldServers(t *testing.T) {
	labelled := bson.D{{Key: "ok", Value: 0}, {Key: "code", Value: 1}, {Key: "errorLabels", Value: bson.A{"RetryableWriteError"}}}
	coded := func(code int32) bson.D { return bson.D{{Key: "ok", Value: 0}, {Key: "code", Value: code}} }
	concern := bson.D{{Key: "ok", Value: 1}, {Key: "writeConcernError", Value: bson.D{{Key: "code", Value: 91}}}}
	statement := bson.D{{Key: "ok", Value: 1}, {Key: "writeErrors", Value: bson.A{bson.D{{Key: "code", Value: 91}}}}}
	for _, c := range []struct {
		name    string
		reply   bson.D
		version int32
		kind    topology.ServerType
		is, add bool
	}{
		{"the server's label counts", labelled, 21, topology.RSPrimary, true, false},
		{"the server's label counts before 4.4 too", labelled, 8, topology.RSPrimary, true, false},
		{"a code of a 4.4+ server gets no label", coded(91), 9, topology.RSPrimary, false, false},
		{"a code of an older server gets the label", coded(91), 8, topology.RSPrimary, true, true},
		{"a code of an older mongos gets the label", coded(262), 8, topology.Mongos, true, true},
		{"another code gets no label", coded(11000), 8, topology.RSPrimary, false, false},
		{"134 is retryable for reads only", coded(134), 8, topology.RSPrimary, false, false},
		{"writeConcernError of an older mongod gets the label", concern, 8, topology.RSPrimary, true, true},
		{"writeConcernError of a mongos gets no label", concern, 8, topology.Mongos, false, false},
		{"writeConcernError of a 4.4+ server gets no label", concern, 9, topology.RSPrimary, false, false},
		{"writeErrors get no label", statement, 8, topology.RSPrimary, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			is, add := parsed(t, c.reply).retryableWrite(&topology.Server{MaxWireVersion: c.version, Type: c.kind})
			if is != c.is || add != c.add {
				t.Errorf("is %v, add %v; want %v, %v", is, add, c.is, c.add)
			}
		})
	}
}

// Sources: Retryable Writes, "Executing Retryable Write Commands", and Retryable Reads, 3c.
func TestTheErrorOfWhichAttemptIsReturned(t *testing.T) {
	attempt := func(stage retry.Stage, message string, labels ...string) retry.Failure {
		return retry.Failure{
			Stage: stage, Reason: retry.ReasonConnectionFailed, Idempotency: retry.Idempotent,
			Err: official.CommandError{Message: message, Labels: labels},
		}
	}
	// Of 30 attempts the history keeps the first 4 and the last 4.
	long := slices.Concat(
		slices.Repeat([]retry.Failure{attempt(retry.StageBeforeSending, "not sent")}, 9),
		[]retry.Failure{attempt(retry.StageInFlight, "lost")},
		slices.Repeat([]retry.Failure{attempt(retry.StageAnswered, "not written", labelNoWritesPerformed)}, 20),
	)
	const none = "NoWritesPerformed"
	for _, c := range []struct {
		name     string
		kind     Kind
		attempts []retry.Failure
		want     string
	}{
		{"a single one", Write, []retry.Failure{attempt(retry.StageInFlight, "a")}, "a"},
		{"the most recent that was sent", Write, []retry.Failure{attempt(retry.StageInFlight, "a"), attempt(retry.StageAnswered, "b")}, "b"},
		{"not one that was not sent", Write, []retry.Failure{attempt(retry.StageInFlight, "a"), attempt(retry.StageBeforeSending, "b")}, "a"},
		{"not one with NoWritesPerformed", Write, []retry.Failure{attempt(retry.StageAnswered, "a"), attempt(retry.StageAnswered, "b", none)}, "a"},
		{"the only one that was sent and wrote", Write, []retry.Failure{
			attempt(retry.StageBeforeSending, "a"), attempt(retry.StageAnswered, "b"), attempt(retry.StageAnswered, "c", none),
		}, "b"},
		{"the first if there is none", Write, []retry.Failure{attempt(retry.StageAnswered, "a", none), attempt(retry.StageBeforeSending, "b")}, "a"},
		{"runCommand counts as a write", Generic, []retry.Failure{attempt(retry.StageAnswered, "a"), attempt(retry.StageAnswered, "b", none)}, "a"},
		{"NoWritesPerformed is ignored for a read", Read, []retry.Failure{attempt(retry.StageAnswered, "a"), attempt(retry.StageAnswered, "b", none)}, "b"},
		{"the only one that was sent and wrote, of which the history keeps only the count", Write, long, "lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := on(c.kind, Config{})
			err := failing(t, r, c.attempts...)
			var got official.CommandError
			if err = r.final(err); !errors.As(err, &got) || got.Message != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestTheClusterTimeOnlyIncreases(t *testing.T) {
	at := func(s, i uint32) []byte {
		return marshal(t, bson.D{{Key: "clusterTime", Value: bson.Timestamp{T: s, I: i}}, {Key: "signature", Value: int32(i)}})
	}
	other := marshal(t, bson.D{{Key: "clusterTime", Value: bson.Timestamp{T: 6}}, {Key: "signature", Value: "another"}})
	var c clock
	if c.document(nil) != nil {
		t.Error("there is a cluster time before any reply")
	}
	for _, step := range []struct{ told, want []byte }{
		{at(5, 1), at(5, 1)},
		{at(4, 9), at(5, 1)},
		{at(5, 2), at(5, 2)},
		{at(6, 0), at(6, 0)},
		{nil, at(6, 0)},
		{other, at(6, 0)},
		{marshal(t, bson.D{{Key: "clusterTime", Value: "x"}}), at(6, 0)},
	} {
		c.advance(step.told)
		if string(c.document(nil)) != string(step.want) {
			t.Errorf("after %v: %v, want %v", bson.Raw(step.told), bson.Raw(c.document(nil)), bson.Raw(step.want))
		}
	}
}

func TestListenersGetSequencesAsArrays(t *testing.T) {
	at, b := wire.BeginMsg(nil, 1, 0, 0)
	b = append(b, marshal(t, bson.D{{Key: "insert", Value: "c"}})...)
	seq, b := wire.BeginSequence(b, "documents")
	b = append(b, marshal(t, bson.D{{Key: "a", Value: 1}})...)
	b = wire.EndMessage(wire.EndSequence(b, seq), at)
	want := bson.Raw(marshal(t, bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{bson.D{{Key: "a", Value: 1}}}}}))
	if got := shown(b); got.String() != want.String() {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestWhatIsNoMessageIsNotShown(t *testing.T) {
	if got := shown([]byte{1, 2, 3}); got != nil {
		t.Errorf("three bytes are shown as %v", got)
	}
	at, b := wire.BeginMsg(nil, 1, 0, 0)
	b = append(b, marshal(t, bson.D{{Key: "insert", Value: "c"}})...)
	seq, b := wire.BeginSequence(b, "documents")
	b = wire.EndMessage(wire.EndSequence(append(b, 1, 2, 3), seq), at)
	if got := shown(b); got != nil {
		t.Errorf("a sequence without documents is shown as %v", got)
	}
}

// A time is not lost because another one came at the same moment.
func TestTheNewestOfTimesThatComeTogetherIsKept(t *testing.T) {
	const callers = 4
	var documents [callers][]byte
	for i := range documents {
		documents[i] = marshal(t, bson.D{{Key: "clusterTime", Value: bson.Timestamp{T: uint32(i + 1)}}})
	}
	for range 3000 {
		var c clock
		var all sync.WaitGroup
		begin := make(chan struct{})
		for _, document := range documents {
			all.Go(func() {
				<-begin
				c.advance(document)
			})
		}
		close(begin)
		all.Wait()
		if string(c.document(nil)) != string(documents[callers-1]) {
			t.Fatalf("the time is %v", bson.Raw(c.document(nil)))
		}
	}
}
