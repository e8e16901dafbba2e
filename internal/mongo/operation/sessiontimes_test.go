package operation

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// Each operation extends the life of the session, not only the first.
func TestAnOperationRenewsTheServerSession(t *testing.T) {
	in(t, func(w *world) {
		s := w.runner.StartSession(SessionOptions{})
		for id := range 3 {
			w.insert(id, s)
			<-time.After(20 * time.Minute)
		}
		first := w.last("lsid")
		s.End()
		w.insert(3, nil)
		if !w.last("lsid").Equal(first) {
			t.Error("a session that was used 20 minutes ago is not reused")
		}
	})
}

func TestARecoveryTokenIsCopiedAndReplaced(t *testing.T) {
	long := bson.D{{Key: "shard", Value: "a long name of a shard"}}
	short := bson.D{{Key: "shard", Value: "b"}}
	s := &Session{explicit: true}
	for _, token := range []bson.D{long, short, long} {
		reply := parsed(t, bson.D{{Key: "ok", Value: 1}, {Key: "recoveryToken", Value: token}})
		s.advance(reply)
		clear(reply.Body) // the buffer is used again
		if want := marshal(t, token); !bytes.Equal(s.transaction.recoveryToken, want) {
			t.Errorf("the token is %v, want %v", s.transaction.recoveryToken, want)
		}
		s.advance(parsed(t, bson.D{{Key: "ok", Value: 1}}))
		if s.transaction.recoveryToken == nil {
			t.Error("a reply without a token removed it")
		}
	}
}

// Snapshot Reads: the first read determines the time. An implicit session keeps no times.
func TestWhichTimesOfAReplyASessionKeeps(t *testing.T) {
	at := func(seconds uint32) *Reply {
		time := bson.Timestamp{T: seconds}
		return parsed(t, bson.D{
			{Key: "ok", Value: 1},
			{Key: "atClusterTime", Value: time},
			{Key: "operationTime", Value: time},
			{Key: "$clusterTime", Value: bson.D{{Key: "clusterTime", Value: time}}},
		})
	}
	snapshot, implicit := &Session{explicit: true, snapshot: true}, &Session{}
	for _, reply := range []*Reply{at(1), at(2)} {
		snapshot.advance(reply)
		implicit.advance(reply)
	}
	if got := snapshot.snapshotTime >> 32; got != 1 {
		t.Errorf("the snapshot's time is %d, want 1", got)
	}
	if implicit.operationTime != 0 || implicit.clusterTime != nil {
		t.Errorf("the implicit session has the times %d and %v", implicit.operationTime, implicit.clusterTime)
	}
}

// Causal Consistency, Snapshot Reads and Transactions specifications.
func TestTheReadConcernOfACommandInASession(t *testing.T) {
	local, none := &ReadConcern{Level: "local"}, new(ReadConcern)
	session := func(change func(*Session)) *Session {
		s := &Session{explicit: true, causal: true, operationTime: 5}
		change(s)
		return s
	}
	causal := session(func(*Session) {})
	neither := session(func(s *Session) { s.causal = false })
	snapshot := session(func(s *Session) { s.causal, s.snapshot, s.snapshotTime = false, true, 7 })
	inside := func(state transactionState) *Session {
		return session(func(s *Session) {
			s.transaction = transaction{state: state, options: TransactionOptions{ReadConcern: ReadConcern{Level: "majority"}}}
		})
	}
	starting, running := inside(transactionStarting), inside(transactionInProgress)
	for _, c := range []struct {
		name    string
		session *Session
		kind    Kind
		command string
		given   *ReadConcern
		want    ReadConcern
	}{
		{"no session", nil, Read, "find", local, ReadConcern{Level: "local"}},
		{"an implicit session", &Session{operationTime: 5, causal: true}, Read, "find", local, ReadConcern{Level: "local"}},
		{"a session that is not causal", neither, Read, "find", none, ReadConcern{}},
		{"a causal read", causal, Read, "find", local, ReadConcern{Level: "local", AfterClusterTime: 5}},
		{"a causal read with the server's default", causal, Read, "find", none, ReadConcern{AfterClusterTime: 5}},
		{"a read that has no read concern", causal, Read, "getMore", nil, ReadConcern{}},
		{"a causal write", causal, Write, "insert", nil, ReadConcern{AfterClusterTime: 5}},
		{"a write that cannot have it", causal, Write, "createSearchIndexes", nil, ReadConcern{}},
		{"a command of the application", causal, Generic, "insert", nil, ReadConcern{}},
		{"a snapshot read", snapshot, Read, "find", local, ReadConcern{Level: "snapshot", AtClusterTime: 7}},
		{"a write in a snapshot session", snapshot, Write, "insert", nil, ReadConcern{Level: "snapshot", AtClusterTime: 7}},
		{"a command in a snapshot session", snapshot, Generic, "listCollections", nil, ReadConcern{Level: "snapshot", AtClusterTime: 7}},
		{"a later command of a snapshot's cursor", snapshot, Read, "getMore", nil, ReadConcern{}},
		{"the end of a snapshot's cursor", snapshot, Read, "killCursors", nil, ReadConcern{}},
		{"the first read of a transaction", starting, Read, "find", local, ReadConcern{Level: "majority", AfterClusterTime: 5}},
		{"the first write of a transaction", starting, Write, "insert", nil, ReadConcern{Level: "majority", AfterClusterTime: 5}},
		{"the first command of a transaction", starting, Generic, "insert", nil, ReadConcern{Level: "majority", AfterClusterTime: 5}},
		{"a later read of a transaction", running, Read, "find", local, ReadConcern{}},
		{"a later write of a transaction", running, Write, "insert", nil, ReadConcern{}},
	} {
		op := &Operation{Name: c.command, Kind: c.kind, ReadConcern: c.given, Session: c.session}
		if err := checkSession(op); err != nil {
			t.Fatal(err)
		}
		r := &run{op: op, session: c.session, transactional: c.session.participates(op)}
		if got, err := r.readConcern(&topology.Server{MaxWireVersion: snapshotWireVersion}); got != c.want || err != nil {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
	}
	standalone := &run{op: &Operation{ReadConcern: none}, session: causal}
	if got, _ := standalone.readConcern(&topology.Server{Type: topology.Standalone}); got != (ReadConcern{}) {
		t.Errorf("on a standalone: %+v", got)
	}
	old := &run{op: new(Operation), session: snapshot}
	if _, err := old.readConcern(&topology.Server{MaxWireVersion: snapshotWireVersion - 1}); !errors.Is(err, errSnapshotVersion) {
		t.Errorf("a snapshot read of an old server: %v", err)
	}
}

// Source: Read and Write Concern specification, "afterClusterTime": the commands are its list.
func TestEachWriteOfTheListHasTheTimeOfItsSession(t *testing.T) {
	s := &Session{explicit: true, causal: true, operationTime: 5}
	for _, name := range []string{
		"insert", "update", "findAndModify", "delete", "bulkWrite", "create", "createIndexes", "drop", "dropDatabase", "dropIndexes",
	} {
		r := &run{op: &Operation{Name: name, Kind: Write}, session: s}
		if got, err := r.readConcern(new(topology.Server)); got != (ReadConcern{AfterClusterTime: 5}) || err != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestAReadConcernIsSentWithTheFieldsThatItHas(t *testing.T) {
	const time = 7<<32 | 9
	for _, c := range []struct {
		concern ReadConcern
		want    string
	}{
		{ReadConcern{}, `{}`},
		{ReadConcern{Level: "local"}, `{"readConcern": {"level": "local"}}`},
		{ReadConcern{AfterClusterTime: time}, `{"readConcern": {"afterClusterTime": {"$timestamp":{"t":7,"i":9}}}}`},
		{ReadConcern{AtClusterTime: time}, `{"readConcern": {"atClusterTime": {"$timestamp":{"t":7,"i":9}}}}`},
	} {
		elements := c.concern.append(nil)
		doc := append([]byte{byte(len(elements) + 5), 0, 0, 0}, append(elements, 0)...)
		if got := bson.Raw(doc).String(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.concern, got, c.want)
		}
	}
}

// Driver Sessions: an unacknowledged write in an explicit session is an error, before anything is sent.
func TestAnUnacknowledgedWriteInAnExplicitSessionIsRefused(t *testing.T) {
	in(t, func(w *world) {
		s := w.runner.StartSession(SessionOptions{})
		defer s.End()
		o := op(Write, constant("insert", "c", "documents", bson.A{doc("_id", 1)}))
		o.ReadConcern, o.Retryable, o.Session, o.WriteConcern = nil, false, s, WriteConcern{WriteConcern: writeconcern.Unacknowledged()}
		if err := w.runner.Run(w.Context(), o); !errors.Is(err, ErrUnacknowledgedInSession) || len(w.sent) != 0 {
			t.Errorf("%d commands were sent: %v", len(w.sent), err)
		}
		o.Session = w.runner.ImplicitSession()
		w.must(w.runner.Run(w.Context(), o))
	})
}

// malformed returns a document whose last element has a wrong length.
func malformed(t *testing.T, d bson.D) []byte {
	t.Helper()
	b := marshal(t, append(d, bson.E{Key: "last", Value: "abc"}))
	b[len(b)-9] = 200
	return b
}

func TestAMalformedReplyHasNoFieldsAndNoCursor(t *testing.T) {
	reply := Reply{N: 3}
	if err := reply.Parse(malformed(t, bson.D{{Key: "ok", Value: 1}, {Key: "n", Value: 1}})); err == nil || reply.OK || reply.N != 0 {
		t.Errorf("error %v, reply %+v", err, reply)
	}
	reply = Reply{Cursor: malformed(t, bson.D{{Key: "id", Value: int64(1)}, {Key: "firstBatch", Value: bson.A{}}})}
	if c, err := reply.ReadCursor(); err == nil || c.ID != 0 || c.Batch != nil {
		t.Errorf("error %v, cursor %+v", err, c)
	}
}

func TestTheNewerClusterTimeIsKeptAsACopy(t *testing.T) {
	at := func(seconds uint32) []byte {
		return marshal(t, bson.D{{Key: "clusterTime", Value: bson.Timestamp{T: seconds}}})
	}
	document := at(2)
	two := newer(nil, document)
	clear(document)
	if !bytes.Equal(two.document, at(2)) {
		t.Error("the time is in the connection's buffer")
	}
	for name, older := range map[string][]byte{"older": at(1), "equal": at(2), "missing": nil} {
		if newer(two, older) != two {
			t.Errorf("a time that is %s replaces it", name)
		}
	}
	if three := newer(two, at(3)); !bytes.Equal(three.document, at(3)) {
		t.Error("a newer time does not replace it")
	}
}

// Causal Consistency: the application may have advanced the session's cluster time.
func TestACommandIsSentWithTheSessionsClusterTime(t *testing.T) {
	in(t, func(w *world) {
		w.insert(1, nil)
		s := w.runner.StartSession(SessionOptions{})
		defer s.End()
		future := w.runner.clock.latest.Load().timestamp + 1
		s.clusterTime = newer(nil, marshal(t, bson.D{
			{Key: "clusterTime", Value: bson.Timestamp{T: uint32(future >> 32), I: uint32(future)}},
		}))
		o := withSession(op(Read, constant("find", "c")), s)
		_ = w.runner.Run(w.Context(), o)
		seconds, counter := w.last("$clusterTime", "clusterTime").Timestamp()
		if got := Timestamp(seconds)<<32 | Timestamp(counter); got != future {
			t.Errorf("the cluster time is %d, want %d", got, future)
		}
	})
}

// The topology may describe the server otherwise by now, and a load balancer not at all.
func TestACommandIsWrittenForTheServerOfItsConnection(t *testing.T) {
	in(t, func(w *world) {
		pin := &Pin{KeepConnection: true}
		w.connection(pin, nil)
		var described []*topology.Server
		o := op(Generic, constant("ping", 1))
		o.Pin = pin
		o.Command = &command{write: func(a Attempt) bson.D {
			described = append(described, a.Server)
			return doc("ping", 1)
		}}
		w.must(w.runner.Run(w.Context(), o))
		if len(described) != 1 || described[0] != pin.kept.conn.Description {
			t.Errorf("written for %+v", described)
		}
		pin.Release()
	})
}
