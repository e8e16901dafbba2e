package mongotest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest"
)

// victim is a server that is sent whatever a fuzzer makes up. It may answer or hang up; it must go on serving others, on
// connections that were there before and on new ones.
type victim struct {
	rs *mongotest.Deployment
}

func newVictim(f *testing.F, opts ...mongotest.Option) *victim {
	opts = append([]mongotest.Option{mongotest.InMemory(), mongotest.JournalLimit(10)}, opts...)
	v := &victim{must[*mongotest.Deployment](f)(mongotest.RunReplicaSet(3, opts...))}
	f.Cleanup(func() { _ = v.rs.Close() })
	return v
}

// suffer lets a client do something on a connection of its own, closes it, and looks whether that harmed another.
func (v *victim) suffer(t *testing.T, do func(c net.Conn)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	other := dial(t, v.rs, v.rs.Primary())
	defer other.conn.Close()
	conn := must[net.Conn](t)(v.rs.Dialer().DialContext(ctx, "tcp", v.rs.Addr(v.rs.Primary())))
	do(conn)
	_ = conn.Close()
	must[any](t)(nil, v.rs.WaitIdle(ctx))
	for m := range v.rs.Members() {
		v.rs.ClearFailPoint(m, mongotest.FailCommand) // which a message may have set
	}
	other.ok(`{"ping": 1, "$db": "admin"}`)
	if v.rs.Primary() < 0 {
		must[int](t)(v.rs.WaitPrimary(ctx))
	}
	again := dial(t, v.rs, v.rs.Primary())
	again.ok(`{"ping": 1, "$db": "admin"}`)
	_ = again.conn.Close()
}

// exchange sends whole messages, one after the other as each is answered, and returns the last answer, nil if the server
// hung up.
func (v *victim) exchange(t *testing.T, messages ...[]byte) (answer []byte) {
	t.Helper()
	v.suffer(t, func(c net.Conn) {
		_ = c.SetReadDeadline(time.Now().Add(time.Minute)) // only a message that is never answered reaches it
		in := bufio.NewReader(c)
		for _, m := range messages {
			_, _ = c.Write(m)
			var err error
			if answer, err = wire.ReadMessage(in, nil, wire.MaxMessageLength); err != nil {
				answer = nil
			}
			if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
				t.Errorf("%q was not answered", m)
			}
		}
	})
	return answer
}

// FuzzMessage sends bytes as they are.
func FuzzMessage(f *testing.F) {
	eachCommand(f, func(command string) { f.Add(message(f, command)) })
	hello := must[[]byte](f)(bson.Marshal(j(`{"isMaster": 1, "helloOk": true}`)))
	f.Add(wire.AppendQuery(nil, 1, wire.SecondaryOk, "admin.$cmd", hello))
	f.Add(sequenceMessage(f))
	v := newVictim(f)
	f.Fuzz(func(t *testing.T, b []byte) { v.suffer(t, func(c net.Conn) { _, _ = c.Write(b) }) })
}

// FuzzCommand sends a command, written as extended JSON, and a second one, perhaps malformed as BSON, so that it comes
// further than bytes without a sensible length do. An answer must be a reply to it.
func FuzzCommand(f *testing.F) {
	eachCommand(f, func(command string) { f.Add(command, []byte{}) })
	for _, command := range []string{
		`{"update": "c", "updates": [{"q": {"a.b": 1}, "u": {"$push": {"a": {"$each": [1], "$slice": -2, "$sort": 1}}}, "multi": true}]}`,
		`{"update": "c", "updates": [{"q": {}, "u": [{"$set": {"a": {"$add": ["$b", 1]}}}], "upsert": true}]}`,
		`{"find": "c", "filter": {"a": {"$elemMatch": {"$gt": 1}}}, "projection": {"a.$": 1}, "sort": {"a": -1}}`,
		`{"aggregate": "c", "pipeline": [{"$group": {"_id": "$a", "n": {"$sum": 1}}}, {"$sort": {"n": 1}}], "cursor": {}}`,
		`{"insert": "c", "documents": [{}], "lsid": {"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}, "txnNumber": {"$numberLong": "1"}}`,
		`{"commitTransaction": 1, "lsid": {"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}, "txnNumber": {"$numberLong": "1"}, "autocommit": false}`,
		`{"configureFailPoint": "failCommand", "mode": {"times": 1}, "data": {"failCommands": ["find"], "errorCode": 6}}`,
	} {
		f.Add(command, []byte{})
	}
	v := newVictim(f)
	f.Fuzz(func(t *testing.T, text string, tail []byte) {
		var doc bson.D
		if bson.UnmarshalExtJSON([]byte(text), false, &doc) != nil {
			t.Skip("no document")
		}
		body, err := bson.Marshal(append(doc, bson.E{Key: "$db", Value: "test"}))
		if err != nil {
			t.Skip("no document")
		}
		answer := v.exchange(t, opMsg(1, body), opMsg(2, spliced(body, tail)))
		if answer == nil {
			return
		}
		m, err := wire.ParseMsg(answer)
		if err != nil || bson.Raw(m.Body).Validate() != nil {
			t.Errorf("%s is answered %x: %v", text, answer, err)
		}
	})
}

// spliced returns a document whose last bytes are others.
func spliced(doc, tail []byte) []byte {
	n := min(len(tail), len(doc)-4)
	return append(doc[:len(doc)-n:len(doc)-n], tail[:n]...)
}

// FuzzCompressed sends what claims to be a compressed message.
func FuzzCompressed(f *testing.F) {
	ping := message(f, `{"ping": 1}`)
	for _, name := range []string{"snappy", "zlib", "zstd"} {
		with, _ := wire.CompressorNamed(name)
		b := must[[]byte](f)(new(wire.Codec).Compress(nil, ping, with))
		f.Add(uint8(with), int32(len(ping)-wire.HeaderLength), wire.OpMsg, b[wire.HeaderLength+9:])
	}
	f.Add(uint8(0), int32(len(ping)-wire.HeaderLength), wire.OpMsg, ping[wire.HeaderLength:])
	f.Add(uint8(2), int32(1<<30), wire.OpCompressed, []byte{0x78, 0x9c})
	v := newVictim(f)
	f.Fuzz(func(t *testing.T, with uint8, size, opCode int32, data []byte) {
		b := binary.LittleEndian.AppendUint32(nil, uint32(wire.HeaderLength+9+len(data)))
		b = append(b, 1, 0, 0, 0, 0, 0, 0, 0)
		b = binary.LittleEndian.AppendUint32(b, uint32(wire.OpCompressed))
		b = binary.LittleEndian.AppendUint32(b, uint32(opCode))
		b = binary.LittleEndian.AppendUint32(b, uint32(size))
		v.suffer(t, func(c net.Conn) { _, _ = c.Write(append(append(b, with), data...)) })
	})
}

// FuzzScram plays both steps of an authentication. Who does not know the password is never let in.
func FuzzScram(f *testing.F) {
	for _, mechanism := range []string{"SCRAM-SHA-1", "SCRAM-SHA-256", "PLAIN", "MONGODB-AWS", "MONGODB-OIDC"} {
		f.Add(mechanism, []byte("n,,n=alice,r=fyko+d2lbbFgONRv9qkxdawL"), []byte("c=biws,r=fyko+d2lbbFgONRv9qkxdawL,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts="))
		f.Add(mechanism, []byte("y,a=alice,n=al=2Cice,r="), []byte(""))
	}
	f.Add("MONGODB-OIDC", must[[]byte](f)(bson.Marshal(bson.D{})), must[[]byte](f)(bson.Marshal(bson.D{{Key: "jwt", Value: "a guess"}})))
	f.Add("MONGODB-AWS", must[[]byte](f)(bson.Marshal(bson.D{{Key: "r", Value: make([]byte, 32)}, {Key: "p", Value: 110}})),
		must[[]byte](f)(bson.Marshal(bson.D{{Key: "a", Value: "AWS4-HMAC-SHA256"}, {Key: "d", Value: "2"}})))
	v := newVictim(f, mongotest.Users(mongotest.User{Name: "alice", Password: "correct horse battery staple"}),
		mongotest.AWS(mongotest.AWSIdentity{ARN: "arn", AccessKeyID: "id", SecretAccessKey: "correct horse battery staple"}),
		mongotest.OIDC(mongotest.IdentityProvider{Accept: func(string) (mongotest.TokenOwner, error) {
			return mongotest.TokenOwner{}, errors.New("nobody's")
		}}))
	f.Fuzz(func(t *testing.T, mechanism string, first, second []byte) {
		start := must[[]byte](t)(bson.Marshal(bson.D{
			{Key: "saslStart", Value: 1}, {Key: "mechanism", Value: mechanism}, {Key: "payload", Value: first}, {Key: "$db", Value: database(mechanism)},
		}))
		next := must[[]byte](t)(bson.Marshal(bson.D{
			{Key: "saslContinue", Value: 1}, {Key: "conversationId", Value: 1}, {Key: "payload", Value: second}, {Key: "$db", Value: "admin"},
		}))
		find := must[[]byte](t)(bson.Marshal(j(`{"find": "c", "$db": "test"}`)))
		answer := v.exchange(t, opMsg(1, start), opMsg(2, next), opMsg(3, find))
		m, err := wire.ParseMsg(answer)
		if err != nil || number(m.Body, "code") != 13 {
			t.Errorf("somebody was let in: %s, %v", bson.Raw(m.Body), err)
		}
	})
}

// database returns the database that knows the users of a mechanism.
func database(mechanism string) string {
	if mechanism == "MONGODB-AWS" || mechanism == "MONGODB-OIDC" {
		return "$external"
	}
	return "admin"
}

// FuzzReconfig sends configurations of the replica set.
func FuzzReconfig(f *testing.F) {
	for _, config := range []string{
		`{"_id": "rs0", "version": 2, "members": [{"_id": 0, "host": "m0.rs0.mongotest:27017"}, {"_id": 1, "host": "m1.rs0.mongotest:27017", "priority": 0, "hidden": true, "tags": {"dc": "b"}}, {"_id": 2, "host": "m2.rs0.mongotest:27017", "votes": 1}]}`,
		`{"_id": "rs0", "version": 3, "term": 1, "protocolVersion": {"$numberLong": "1"}, "members": [], "settings": {"electionTimeoutMillis": 1}}`,
		`{"_id": 1, "version": -1, "members": {"0": 1}}`,
	} {
		f.Add(config, true)
	}
	v := newVictim(f, mongotest.ElectionTimeout(50*time.Millisecond))
	f.Fuzz(func(t *testing.T, text string, force bool) {
		var config bson.D
		if bson.UnmarshalExtJSON([]byte(text), false, &config) != nil {
			t.Skip("no document")
		}
		body, err := bson.Marshal(bson.D{{Key: "replSetReconfig", Value: config}, {Key: "force", Value: force}, {Key: "$db", Value: "admin"}})
		if err != nil {
			t.Skip("no document")
		}
		v.exchange(t, opMsg(1, body))
	})
}

// everySeed is how many compared commands there are for each that is a seed if the run does not fuzz: internal/differential sends all of
// them anyway.
const everySeed = 8

// eachCommand calls add with the commands of the cases that are compared with a real server. A run that does not fuzz has every eighth.
func eachCommand(f *testing.F, add func(command string)) {
	f.Helper()
	n := 0
	for _, line := range spectest.Lines(f, "internal/differential/testdata/cases/commands/*.txt") {
		if !strings.HasPrefix(line, "{") {
			continue
		}
		if n++; n%everySeed == 0 || fuzzing() {
			add(strings.TrimSpace(line))
		}
	}
}

func fuzzing() bool { return flag.Lookup("test.fuzz").Value.String() != "" }

// message returns a command as an OP_MSG.
func message(t testing.TB, command string) []byte {
	return opMsg(1, must[[]byte](t)(bson.Marshal(append(j("%s", command), bson.E{Key: "$db", Value: "test"}))))
}

func opMsg(id int32, body []byte) []byte {
	at, msg := wire.BeginMsg(nil, id, 0, 0)
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

// TestFuzzCorporaAreThere keeps the committed corpora from being lost unnoticed.
func TestFuzzCorporaAreThere(t *testing.T) {
	for _, name := range []string{"FuzzMessage", "FuzzCommand", "FuzzCompressed", "FuzzScram", "FuzzReconfig"} {
		files := must[[]string](t)(filepath.Glob(filepath.Join("testdata", "fuzz", name, "*")))
		if len(files) == 0 {
			t.Errorf("testdata/fuzz/%s is empty", name)
		}
		for _, f := range files {
			if b, err := os.ReadFile(f); err != nil || !bytes.HasPrefix(b, []byte("go test fuzz v1\n")) {
				t.Errorf("%s: %v", f, err)
			}
		}
	}
}
