package mongotest_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// FuzzMessage sends bytes to a server: it may answer or hang up, but it must go on serving others.
func FuzzMessage(f *testing.F) {
	for _, step := range script {
		f.Add(message(f, step.command))
	}
	for _, path := range replyFiles(f) {
		for _, c := range readReplies(f, path) {
			f.Add(message(f, c.command))
		}
	}
	hello := must[[]byte](f)(bson.Marshal(j(`{"isMaster": 1, "helloOk": true}`)))
	f.Add(wire.AppendQuery(nil, 1, wire.SecondaryOk, "admin.$cmd", hello))
	f.Add(sequenceMessage(f))
	rs := must[*mongotest.ReplicaSet](f)(mongotest.Run(mongotest.Members(3), mongotest.InMemory(), mongotest.JournalLimit(10)))
	f.Cleanup(func() { _ = rs.Close() })
	f.Fuzz(func(t *testing.T, b []byte) {
		conn := must[interface {
			Write([]byte) (int, error)
			Close() error
		}](t)(rs.Dialer().DialContext(context.Background(), "tcp", rs.Addr(rs.Primary())))
		_, _ = conn.Write(b)
		_ = conn.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := rs.WaitIdle(ctx); err != nil {
			t.Fatal(err)
		}
		if rs.Primary() < 0 {
			must[int](t)(rs.WaitPrimary(ctx))
		}
		dial(t, rs, rs.Primary()).ok(`{"ping": 1, "$db": "admin"}`)
	})
}

// message returns a command as an OP_MSG.
func message(t testing.TB, command string) []byte {
	body := must[[]byte](t)(bson.Marshal(append(j("%s", command), bson.E{Key: "$db", Value: "test"})))
	at, msg := wire.BeginMsg(nil, 1, 0, 0)
	return wire.EndMessage(append(msg, body...), at)
}

// sequenceMessage returns an insert whose documents are a sequence.
func sequenceMessage(t testing.TB) []byte {
	at, msg := wire.BeginMsg(nil, 1, 0, 0)
	msg = append(msg, must[[]byte](t)(bson.Marshal(j(`{"insert": "c", "ordered": false, "$db": "test"}`)))...)
	seq, msg := wire.BeginSequence(msg, "documents")
	msg = append(msg, must[[]byte](t)(bson.Marshal(j(`{"_id": 1, "a": [1, {"b": 2}]}`)))...)
	return wire.EndMessage(wire.EndSequence(msg, seq), at)
}

// TestFuzzCorpusIsThere keeps the committed corpus from being lost unnoticed.
func TestFuzzCorpusIsThere(t *testing.T) {
	files := must[[]string](t)(filepath.Glob(filepath.Join("testdata", "fuzz", "FuzzMessage", "*")))
	if len(files) == 0 {
		t.Error("testdata/fuzz/FuzzMessage is empty")
	}
	for _, f := range files {
		if b, err := os.ReadFile(f); err != nil || len(b) == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
}
