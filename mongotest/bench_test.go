package mongotest_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest"
)

// benchmarkRoundTrips sends the same message again and again on one TCP connection.
func benchmarkRoundTrips(b *testing.B, conn net.Conn, next func(i int) []byte) {
	b.Helper()
	b.ReportAllocs()
	var in []byte
	var err error
	for i := range b.N {
		if _, err = conn.Write(next(i)); err != nil {
			b.Fatal(err)
		}
		if in, err = wire.ReadMessage(conn, in, wire.MaxMessageLength); err != nil {
			b.Fatal(err)
		}
	}
}

// echo answers every message with the same bytes; it is the floor.
func echo(b *testing.B, reply []byte) net.Conn {
	b.Helper()
	l := must[net.Listener](b)(net.Listen("tcp", "127.0.0.1:0"))
	b.Cleanup(func() { _ = l.Close() })
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		var in []byte
		for err == nil {
			if in, err = wire.ReadMessage(conn, in, wire.MaxMessageLength); err == nil {
				_, err = conn.Write(reply)
			}
		}
	}()
	return must[net.Conn](b)(net.Dial("tcp", l.Addr().String()))
}

const lsid = `"lsid": {"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}`

const sixFields = `{"_id": 1, "name": "holdfast", "count": 17, "ok": true, "at": {"$date": {"$numberLong": "5"}}, "city": "Berlin"}`

func encode(b *testing.B, command string) []byte {
	b.Helper()
	at, msg := wire.BeginMsg(nil, 1, 0, 0)
	return wire.EndMessage(append(msg, must[[]byte](b)(bson.Marshal(j("%s", command)))...), at)
}

func BenchmarkRoundTrip(b *testing.B) {
	rs := must[*mongotest.Deployment](b)(mongotest.RunReplicaSet(3))
	b.Cleanup(func() { _ = rs.Close() })
	c := dial(b, rs, 0)
	c.ok(`{"insert": "c", "documents": [%s], "$db": "test"}`, sixFields)
	find := encode(b, `{"find": "c", "filter": {"_id": 1}, "limit": 1, "singleBatch": true, "$db": "test", `+lsid+`}`)
	b.Run("echo", func(b *testing.B) {
		_, _ = c.conn.Write(find)
		reply := must[[]byte](b)(wire.ReadMessage(c.conn, nil, wire.MaxMessageLength))
		benchmarkRoundTrips(b, echo(b, reply), func(int) []byte { return find })
	})
	b.Run("findOne", func(b *testing.B) {
		benchmarkRoundTrips(b, c.conn, func(int) []byte { return find })
	})
	for _, w := range []string{`1`, `"majority"`} {
		b.Run("insertOne w "+w, func(b *testing.B) {
			insert := encode(b, fmt.Sprintf(`{"insert": "d", "documents": [%s], "$db": "test", %s, "writeConcern": {"w": %s}}`,
				sixFields, lsid, w))
			at := indexOfID(insert)
			c.ok(`{"drop": "d", "$db": "test"}`)
			benchmarkRoundTrips(b, c.conn, func(i int) []byte {
				insert[at], insert[at+1], insert[at+2], insert[at+3] = byte(i), byte(i>>8), byte(i>>16), byte(i>>24)
				return insert
			})
		})
	}
}

// indexOfID returns where the int32 _id of the first document begins.
func indexOfID(msg []byte) int {
	for i := range msg {
		if string(msg[i:i+5]) == "\x10_id\x00" {
			return i + 5
		}
	}
	panic(io.ErrUnexpectedEOF)
}

func BenchmarkRunAndClose(b *testing.B) {
	for name, opt := range map[string][]mongotest.Option{"tcp": nil, "memory": {mongotest.InMemory()}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				rs := must[*mongotest.Deployment](b)(mongotest.RunReplicaSet(3, opt...))
				must[any](b)(nil, rs.Close())
			}
		})
	}
}

// BenchmarkIndexes has what counting the uses of indexes and keeping their marks could make slow.
func BenchmarkIndexes(b *testing.B) {
	rs := must[*mongotest.Deployment](b)(mongotest.RunStandalone())
	b.Cleanup(func() { _ = rs.Close() })
	c := dial(b, rs, 0)
	var docs []string
	for i := range 1000 {
		docs = append(docs, fmt.Sprintf(`{"_id": %d, "a": %d, "b": {"c": "text %d"}, "d": 1.5, "e": true}`, i, i%100, i))
	}
	insert := encode(b, fmt.Sprintf(`{"insert": "c", "documents": [%s], "$db": "test"}`, strings.Join(docs, ", ")))
	indexes := `{"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a"}, {"key": {"b.c": 1, "d": -1}, "name": "bd"}], "$db": "test"}`
	must[int](b)(c.conn.Write(insert))
	must[[]byte](b)(wire.ReadMessage(c.conn, nil, wire.MaxMessageLength))
	c.ok(indexes)
	b.Run("find", func(b *testing.B) {
		find := encode(b, `{"find": "c", "filter": {"a": 17}, "$db": "test"}`)
		benchmarkRoundTrips(b, c.conn, func(int) []byte { return find })
	})
	b.Run("findByID", func(b *testing.B) {
		find := encode(b, `{"find": "c", "filter": {"_id": 17}, "$db": "test"}`)
		benchmarkRoundTrips(b, c.conn, func(int) []byte { return find })
	})
	b.Run("insert 1000", func(b *testing.B) {
		for range b.N {
			b.StopTimer()
			c.ok(`{"drop": "c", "$db": "test"}`)
			c.ok(indexes)
			b.StartTimer()
			must[int](b)(c.conn.Write(insert))
			must[[]byte](b)(wire.ReadMessage(c.conn, nil, wire.MaxMessageLength))
		}
	})
}
