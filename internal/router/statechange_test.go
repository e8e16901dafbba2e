package router

import (
	"bytes"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

func doc(elements ...any) bson.D {
	var all bson.D
	for i := 0; i < len(elements); i += 2 {
		all = append(all, bson.E{Key: elements[i].(string), Value: elements[i+1]})
	}
	return all
}

// sameReply fails unless a reply is the document that is wanted.
func sameReply(t *testing.T, got []byte, want bson.D) {
	t.Helper()
	if !bytes.Equal(got, marshal(t, want)) {
		t.Errorf("%v, want %v", bson.Raw(got), bson.Raw(marshal(t, want)))
	}
}

var (
	lostPrimary = doc("code", int32(10107), "codeName", "NotWritablePrimary", "index", int32(0))
	unreachable = doc("code", int32(6), "codeName", "HostUnreachable", "index", int32(0))
	otherError  = doc("code", int32(64), "codeName", "WriteConcernFailed")
)

func TestHowTheErrorReplyOfAMemberIsTranslated(t *testing.T) {
	write, end := command{ClientMessage: wire.ClientMessage{Name: "insert"}, numbered: true}, command{ClientMessage: wire.ClientMessage{Name: "commitTransaction"}}
	read := command{ClientMessage: wire.ClientMessage{Name: "count"}}
	const text = "what the router says"
	version := doc("counter", int64(1))
	both := bson.A{"X", "RetryableWriteError"}
	for name, c := range map[string]struct {
		command     command
		retried     bool
		reply, want bson.D
	}{
		"any error stays": {
			write, false,
			doc("ok", 0.0, "errmsg", "e", "code", int32(8000), "errorLabels", both, "topologyVersion", version),
			doc("ok", 0.0, "errmsg", "e", "code", int32(8000), "errorLabels", both, "topologyVersion", version),
		},
		"a change of state": {
			read, false,
			doc("ok", 0.0, "errmsg", "e", "code", int32(91), "codeName", "ShutdownInProgress", "x", "y", "topologyVersion", version),
			doc("ok", 0.0, "x", "y", "errmsg", text, "code", int32(6), "codeName", "HostUnreachable"),
		},
		"the labels of a mongos are added": {
			write, false,
			doc("ok", 0.0, "code", int32(10107), "errorLabels", bson.A{"X"}),
			doc("ok", 0.0, "errmsg", text, "code", int32(6), "codeName", "HostUnreachable", "errorLabels", both),
		},
		"but not twice": {
			write, false,
			doc("ok", 0.0, "code", int32(10107), "errorLabels", both),
			doc("ok", 0.0, "errmsg", text, "code", int32(6), "codeName", "HostUnreachable", "errorLabels", both),
		},
		"after a retry the client must not retry": {
			write, true,
			doc("ok", 0.0, "code", int32(8000), "errorLabels", both),
			doc("ok", 0.0, "errmsg", text, "code", int32(8000), "errorLabels", bson.A{"X"}),
		},
		"but for the end of a transaction": {
			end, true,
			doc("ok", 0.0, "code", int32(8000), "codeName", "AtlasError", "errorLabels", both),
			doc("ok", 0.0, "errmsg", text, "code", int32(8000), "codeName", "AtlasError", "errorLabels", both),
		},
		"a change of state of a statement": {
			write, false,
			doc("ok", 0.0, "code", int32(8000), "writeErrors", bson.A{otherError, lostPrimary}),
			doc("ok", 0.0, "writeErrors", bson.A{otherError, unreachable}, "errmsg", text, "code", int32(8000)),
		},
		"a change of state within": {
			write, false,
			doc("ok", 0.0, "code", int32(8000), "writeConcernError", lostPrimary, "errorLabels", both),
			doc("ok", 0.0, "writeConcernError", unreachable, "errmsg", text, "code", int32(8000), "errorLabels", both),
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := &forwarded{command: &c.command, client: &client{router: new(Router)}}
			sameReply(t, f.translated(marshal(t, c.reply), errors.New(text), c.retried), c.want)
		})
	}
	broken := []byte{6, 0, 0, 0, 1, 0}
	if got := (&forwarded{command: &read}).translated(broken, errors.New(text), true); !bytes.Equal(got, broken) {
		t.Errorf("what nobody can read is translated to %x", got)
	}
}

// Those that mean "not writable primary" or "node is recovering" (Server Discovery and Monitoring).
func TestWhichCodesAreChangesOfState(t *testing.T) {
	for _, code := range []int32{10107, 13435, 10058, 11600, 11602, 13436, 189, 91} {
		if !stateChange(code) {
			t.Errorf("%d is none", code)
		}
	}
	for _, code := range []int32{0, 6, 64, 8000, 112} {
		if stateChange(code) {
			t.Errorf("%d is one", code)
		}
	}
}

func TestHowTheReplyOfAFailedWriteIsSettled(t *testing.T) {
	for name, c := range map[string]struct {
		retried     bool
		reply, want bson.D
	}{
		"the codes and the version": {
			false,
			doc("n", int32(1), "writeErrors", bson.A{lostPrimary, otherError}, "writeConcernError", lostPrimary, "topologyVersion", doc("counter", int64(1))),
			doc("n", int32(1), "writeErrors", bson.A{unreachable, otherError}, "writeConcernError", unreachable),
		},
		"its labels stay":                       {false, doc("errorLabels", bson.A{"X", "RetryableWriteError"}), doc("errorLabels", bson.A{"X", "RetryableWriteError"})},
		"after a retry but one":                 {true, doc("errorLabels", bson.A{"X", "RetryableWriteError"}), doc("errorLabels", bson.A{"X"})},
		"or none":                               {true, doc("errorLabels", bson.A{"RetryableWriteError"}), bson.D{}},
		"what is no label goes":                 {false, doc("errorLabels", bson.A{5, "X"}), doc("errorLabels", bson.A{"X"})},
		"what is neither a document nor a list": {false, doc("writeConcernError", int32(5), "writeErrors", "x"), doc("writeConcernError", int32(5), "writeErrors", "x")},
	} {
		t.Run(name, func(t *testing.T) { sameReply(t, settled(marshal(t, c.reply), c.retried), c.want) })
	}
}
