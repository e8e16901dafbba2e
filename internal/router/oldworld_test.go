package router_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

// oldClient sends old messages.
type oldClient struct {
	*world
	conn net.Conn
}

func (w *world) connectOld() *oldClient {
	w.Helper()
	conn, err := w.network.DialContext(w.Context(), "tcp", address)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = conn.Close() })
	return &oldClient{world: w, conn: conn}
}

func (c *oldClient) send(message []byte) {
	c.Helper()
	if _, err := c.conn.Write(message); err != nil {
		c.Fatal(err)
	}
}

// ask sends a message and returns the reply.
func (c *oldClient) ask(message []byte) wire.Reply {
	c.Helper()
	c.send(message)
	b, err := wire.ReadMessage(c.conn, nil, wire.MaxMessageLength)
	if err != nil {
		c.Fatal(err)
	}
	r, err := wire.ParseReplies(b)
	if err != nil {
		c.Fatal(err)
	}
	return r
}

func document(v any) []byte {
	b, err := bson.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func (c *oldClient) find(n int32, v any) wire.Reply {
	q := wire.Query{Collection: []byte("app.c"), Return: n, Document: document(v)}
	return c.ask(q.Append(nil, 1))
}

func (c *oldClient) more(cursor int64, n int32) wire.Reply {
	g := wire.GetMore{Collection: []byte("app.c"), Return: n, Cursor: cursor}
	return c.ask(g.Append(nil, 2))
}

func (c *oldClient) run(command any) bson.Raw {
	c.Helper()
	r := c.ask(wire.AppendQuery(nil, 3, 0, "app.$cmd", document(command)))
	if r.Count != 1 {
		c.Fatalf("%d documents", r.Count)
	}
	return r.Documents
}

// want checks the parts of a reply.
func (c *oldClient) want(r wire.Reply, flags uint32, open bool, from, count int32) {
	c.Helper()
	if r.Flags != flags || (r.Cursor != 0) != open || r.From != from || r.Count != count {
		c.Errorf("flags %b, cursor %d, from %d, %d documents; want %b, open %t, from %d, %d", r.Flags, r.Cursor, r.From, r.Count, flags, open, from, count)
	}
}

func (w *world) fill(n int) {
	w.Helper()
	var all []any
	for i := range n {
		all = append(all, d("_id", i))
	}
	if _, err := w.collection().InsertMany(w.Context(), all); err != nil {
		w.Fatal(err)
	}
}

const (
	capable  = wire.AwaitCapable
	failed   = wire.AwaitCapable | wire.QueryFailure
	notFound = wire.AwaitCapable | wire.CursorNotFound
)

func TestAnOldCursor(t *testing.T) {
	inWorld(t, func(w *world) {
		w.fill(250)
		c := w.connectOld()
		first := c.find(20, bson.D{})
		c.want(first, capable, true, 0, 20)
		c.want(c.more(first.Cursor, 30), capable, true, 20, 30)
		c.want(c.more(first.Cursor, 0), capable, false, 50, 200)
		c.want(c.more(first.Cursor, 0), notFound, false, 0, 0)

		c.want(c.find(0, bson.D{}), capable, true, 0, 101)
		c.want(c.find(1, bson.D{}), capable, false, 0, 1)
		c.want(c.find(-200, bson.D{}), capable, false, 0, 200)
		c.want(c.find(0, d("_id", -1)), capable, false, 0, 0)
		c.want(c.find(0, d("_id", d("$unknown", 1))), failed, false, 0, 1)
		c.want(c.more(first.Cursor, -1), failed, false, 0, 1)
	})
}

// A batch has at most 16 MiB: the buffer of a large reply is not the one that old messages need.
func TestALargeOldReply(t *testing.T) {
	inWorld(t, func(w *world) {
		const size, n = 1 << 20, 20
		var all []any
		for i := range n {
			all = append(all, bson.D{{Key: "_id", Value: i}, {Key: "s", Value: make([]byte, size)}})
		}
		if _, err := w.collection().InsertMany(w.Context(), all); err != nil {
			w.Fatal(err)
		}
		c := w.connectOld()
		first := c.find(0, bson.D{})
		if first.Cursor == 0 || first.Count == 0 || int(first.Count)*size > len(first.Documents) {
			w.Fatalf("cursor %d, %d documents in %d bytes", first.Cursor, first.Count, len(first.Documents))
		}
		c.want(c.more(first.Cursor, 0), capable, false, first.Count, n-first.Count)
		if reply := c.run(bson.D{{Key: "find", Value: "c"}}); len(reply) < len(first.Documents) {
			w.Errorf("a reply of %d bytes to a command", len(reply))
		}
	})
}

func TestAnOldCursorIsKilled(t *testing.T) {
	inWorld(t, func(w *world) {
		w.fill(100)
		c := w.connectOld()
		first, second := c.find(20, bson.D{}), c.find(20, bson.D{})
		third := c.run(bson.D{{Key: "find", Value: "c"}, {Key: "batchSize", Value: 5}}).Lookup("cursor", "id").Int64()
		c.send(wire.AppendKillCursors(nil, 5, []int64{first.Cursor, 12345, third})) // it has no reply
		for _, id := range []int64{first.Cursor, third} {
			c.want(c.more(id, 0), notFound, false, 0, 0)
		}
		c.want(c.more(second.Cursor, 0), capable, false, 20, 80)
	})
}

// Another router than the one that opened a cursor ends it, and continues it.
func TestAnOldCursorOfAnotherRouter(t *testing.T) {
	inWorld(t, func(w *world) {
		w.fill(100)
		c := w.connectOld()
		first, second := c.find(20, bson.D{}), c.find(20, bson.D{})
		w.router.Close()
		r := w.start(address, router.Config{Upstream: w.upstream()})
		defer r.Close()
		c = w.connectOld()
		c.run(d("ping", 1))
		w.collection().FindOne(w.Context(), bson.D{}) // the members are known then
		c.want(c.more(first.Cursor, 10), capable, true, 0, 10)
		c.send(wire.AppendKillCursors(nil, 5, []int64{second.Cursor}))
		c.want(c.more(second.Cursor, 0), notFound, false, 0, 0)
	})
}

func TestOldWritesAreRefusedByName(t *testing.T) {
	insert := wire.AppendKillCursors(nil, 1, nil)
	insert[12], insert[13] = byte(wire.OpInsert&0xff), byte(wire.OpInsert>>8)
	inWorld(t, func(w *world) {
		c := w.connectOld()
		c.send(slices.Concat(insert, insert))
		reply := c.run(d("getLastError", 1))
		if code := reply.Lookup("code").Int32(); code != 352 || reply.Lookup("ok").Double() != 0 {
			w.Errorf("%s", reply)
		}
		if reply := c.run(d("ping", 1)); reply.Lookup("ok").Double() != 1 {
			w.Errorf("after it, %s", reply)
		}
		c.send(insert)
		c.send(wire.AppendQuery(nil, 3, 0, "app.$cmd", document(d("ping", 1))))
		if _, err := wire.ReadMessage(c.conn, nil, wire.MaxMessageLength); !errors.Is(err, io.EOF) {
			w.Errorf("a client that does not ask is not told: %v", err)
		}
	})
}

func TestAnOldHandshake(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.connectOld()
		if nonce, _ := c.run(d("getnonce", 1)).Lookup("nonce").StringValueOK(); len(nonce) != 16 {
			w.Errorf("nonce %q", nonce)
		}
		wrapped := bson.D{{Key: "$query", Value: d("isMaster", 1)}, {Key: "$readPreference", Value: d("mode", "secondaryPreferred")}}
		hello := c.run(wrapped)
		if hello.Lookup("msg").StringValue() != "isdbgrid" || !hello.Lookup("ismaster").Boolean() {
			w.Errorf("%s", hello)
		}
		version := hello.Lookup("topologyVersion")
		awaited := c.run(bson.D{{Key: "isMaster", Value: 1}, {Key: "topologyVersion", Value: version}, {Key: "maxAwaitTimeMS", Value: 10}})
		if !awaited.Lookup("ismaster").Boolean() {
			w.Errorf("%s", awaited)
		}
	})
}

// The finds below are what mgo sent for {_id: 1} of app.c, without the bit slaveOk; "n" is a tag of the members. The test in
// interop/mongo/router/mgo has mgo itself.
const (
	mgoFind    = "300000000100000000000000d4070000000000006170702e630000000000ffffffff0e000000105f6964000100000000"
	mgoCommand = "7e0000000100000000000000d4070000000000006170702e24636d640000000000ffffffff590000000266696e64000200000063000366696c746572000e000000105f696400" +
		"010000000010736b69700000000000106c696d6974000100000010626174636853697a6500010000000873696e676c654261746368000100"
	mgoFindPreferring = "830000000100000000000000d4070000000000006170702e630000000000ffffffff6100000003247175657279000e000000105f6964000100000000032472656164507265" +
		"666572656e63650035000000026d6f6465000a0000007365636f6e6461727900047461677300160000000330000e000000026e0002000000310000000000"
	mgoCommandPreferring = "d10000000100000000000000d4070000000000006170702e24636d640000000000ffffffffac0000000324717565727900590000000266696e64000200000063000366696c" +
		"746572000e000000105f696400010000000010736b69700000000000106c696d6974000100000010626174636853697a6500010000000873696e676c6542617463680001000324" +
		"72656164507265666572656e63650035000000026d6f6465000a0000007365636f6e6461727900047461677300160000000330000e000000026e0002000000310000000000"
	mgoFindPrimaryPreferred = "6e0000000100000000000000d4070000000000006170702e630000000000ffffffff4c00000003247175657279000e000000105f6964000100000000032472656164" +
		"507265666572656e63650020000000026d6f646500110000007072696d617279507265666572726564000000"
)

// ofMgo returns a message of mgo, with the bit slaveOk or not, and with the tag of a member if it has one.
func ofMgo(text string, slaveOk bool, member int) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	if slaveOk {
		b[wire.HeaderLength] = byte(wire.SecondaryOk)
	}
	if tag := []byte("\x02n\x00\x02\x00\x00\x00"); bytes.Contains(b, tag) {
		b[bytes.Index(b, tag)+len(tag)] = byte('0' + member)
	}
	return b
}

// slaveOk and $readPreference: what the read preferences document of 2014 has a mongos do.
func TestSlaveOkInTheBytesOfMgo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tags []mongotest.Option
		for i := range 3 {
			tags = append(tags, mongotest.Member(i, mongotest.Tags(map[string]string{"n": strconv.Itoa(i)})))
		}
		w := &world{T: t, set: mongotest.RunReplicaSetT(t, 3, append(tags, mongotest.InMemory())...), network: memnet.New(memnet.Config{})}
		w.router = w.start(address, router.Config{Upstream: w.upstream()})
		defer w.router.Close()
		w.fill(2)
		synctest.Wait() // the router knows each member, and each has the documents
		primary := w.set.Primary()
		first, second := (primary+1)%3, (primary+2)%3
		for _, c := range []struct {
			name    string
			text    string
			slaveOk bool
			want    []int
		}{
			{"neither", mgoFind, false, []int{primary}},
			{"neither, a command", mgoCommand, false, []int{primary}},
			{"slaveOk means secondaryPreferred", mgoFind, true, []int{first, second}},
			{"slaveOk means secondaryPreferred, a command", mgoCommand, true, []int{first, second}},
			{"the preference, without the bit", mgoFindPreferring, false, []int{second}},
			{"the preference, without the bit, a command", mgoCommandPreferring, false, []int{second}},
			{"both: the preference counts", mgoFindPreferring, true, []int{second}},
			{"both: the preference counts, a command", mgoCommandPreferring, true, []int{second}},
			{"both: primaryPreferred", mgoFindPrimaryPreferred, true, []int{primary}},
		} {
			client := w.connectOld()
			client.want(client.ask(ofMgo(c.text, c.slaveOk, second)), capable, false, 0, 1)
			journal := w.set.Journal()
			if last := journal[len(journal)-1]; last.Command != "find" || !slices.Contains(c.want, last.Member) {
				t.Errorf("%s: %s; want one of %v", c.name, &last, c.want)
			}
		}
	})
}

// slaveOk concerns what reads, and an explanation goes where its find would go.
func TestSlaveOkOfOtherCommands(t *testing.T) {
	inWorld(t, func(w *world) {
		w.fill(2)
		synctest.Wait()
		for name, c := range map[string]struct {
			collection string
			document   any
			counted    string
			secondary  bool
		}{
			"count":            {"app.$cmd", d("count", "c"), "count", true},
			"insert":           {"app.$cmd", bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: []any{bson.D{}}}}, "insert", false},
			"explain":          {"app.$cmd", d("explain", d("find", "c")), "explain", false},
			"$explain":         {"app.c", bson.D{{Key: "$query", Value: bson.D{}}, {Key: "$explain", Value: true}}, "explain", true},
			"no such document": {"app.c", d("_id", 99), "find", true},
		} {
			before := w.counts(c.counted)
			q := wire.Query{Flags: wire.SecondaryOk, Collection: []byte(c.collection), Return: -1, Document: document(c.document)}
			if r := w.connectOld().ask(q.Append(nil, 1)); r.Flags != capable {
				w.Errorf("%s: %b, %s", name, r.Flags, bson.Raw(r.Documents))
			}
			after := w.counts(c.counted)
			if at := after[0] - before[0]; after[1]-before[1] != 1-at || (at == 0) != c.secondary {
				w.Errorf("%s: the primary got %d, a secondary %d", name, at, after[1]-before[1])
			}
		}
	})
}

// counts returns how often the primary got a command, and how often the others did.
func (w *world) counts(command string) [2]int64 {
	var n [2]int64
	for i := range w.set.Members() {
		at := 1
		if i == w.set.Primary() {
			at = 0
		}
		n[at] += w.set.Counters(i).Commands[command]
	}
	return n
}
