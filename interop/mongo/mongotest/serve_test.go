package mongotest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

const (
	workers    = 32    // goroutines, each on a connection of its own
	operations = 6_000 // of one sample
	serveBar   = 3.0
)

// TestServe measures what an operation costs the server's process: a client that sends prepared bytes over TCP, by 32
// goroutines on 32 connections, and counts the user and system time of the server, a process of its own. In each round that
// is done with a server that only sends back the same reply, which it reads and writes as the test server does, and then with
// the test server: a replica set of one member. The figure is the larger of the two operations' medians.
func TestServe(t *testing.T) {
	if raceEnabled || testing.Short() {
		t.Skip("it measures")
	}
	mock, floor := startServer(t, mockRole), startServer(t, echoRole)
	prepare(t, mock)
	worst := 0.0
	for _, op := range []operation{findOne, insertOne} {
		ratio := op.ratio(t, mock, floor)
		if ratio > serveBar {
			t.Logf("%s: %.2f is above %.2f: measured again", op.name, ratio, serveBar)
			ratio = op.ratio(t, mock, floor)
		}
		fmt.Printf("figure mock-%s-raw-ratio %.2f\n", op.name, ratio)
		worst = max(worst, ratio)
	}
	fmt.Printf("figure mock-serve-raw-ratio %.2f\n", worst)
	if worst > serveBar {
		t.Errorf("mock-serve-raw-ratio is %.2f; it must be at most %.2f", worst, serveBar)
	}
}

// operation is a request and what changes in it from one to the next.
type operation struct {
	name    string
	request func(t *testing.T, worker int) []byte
	vary    func(request []byte, worker, n int)
	done    func(reply bson.Raw) bool // it did what it is for
}

var findOne = operation{
	"findone",
	func(t *testing.T, worker int) []byte {
		return request(t, append(bson.D{
			{Key: "find", Value: "people"},
			{Key: "filter", Value: bson.D{{Key: "_id", Value: int64(1)}}},
			{Key: "limit", Value: int64(1)},
			{Key: "singleBatch", Value: true},
		}, generic(worker)...))
	},
	func([]byte, int, int) {},
	func(reply bson.Raw) bool { return len(reply.Lookup("cursor", "firstBatch", "0").Value) > 100 },
}

var insertOne = operation{
	"insertone",
	func(t *testing.T, worker int) []byte {
		return request(t, append(bson.D{
			{Key: "insert", Value: "added"},
			{Key: "ordered", Value: true},
			{Key: "txnNumber", Value: int64(1)},
			{Key: "documents", Value: bson.A{person(0)}},
		}, generic(worker)...))
	},
	func(request []byte, worker, n int) {
		binary.LittleEndian.PutUint64(request[valueOf(request, "\x12_id\x00"):], uint64(worker)<<32|uint64(n))
		binary.LittleEndian.PutUint64(request[valueOf(request, "\x12txnNumber\x00"):], uint64(n))
	},
	func(reply bson.Raw) bool {
		_, retried := reply.LookupErr("retriedStmtIds")
		return reply.Lookup("n").AsInt64() == 1 && retried != nil
	},
}

// generic is what a driver adds to every command.
func generic(worker int) bson.D {
	return bson.D{
		{Key: "lsid", Value: bson.D{{Key: "id", Value: bson.Binary{Subtype: 4, Data: bytes.Repeat([]byte{byte(worker + 1)}, 16)}}}},
		{Key: "$clusterTime", Value: bson.D{
			{Key: "clusterTime", Value: bson.Timestamp{T: 1, I: 1}},
			{Key: "signature", Value: bson.D{{Key: "hash", Value: bson.Binary{Data: make([]byte, 20)}}, {Key: "keyId", Value: int64(0)}}},
		}},
		{Key: "$db", Value: "test"},
	}
}

// person is a document of six fields and some hundred bytes.
func person(id int64) bson.D {
	return bson.D{
		{Key: "_id", Value: id},
		{Key: "name", Value: "Ada Lovelace"},
		{Key: "email", Value: "ada@example.org"},
		{Key: "age", Value: int32(36)},
		{Key: "balance", Value: 1815.5},
		{Key: "created", Value: time.Unix(0, 0)},
	}
}

// valueOf returns where the value behind a key begins.
func valueOf(message []byte, key string) int { return bytes.Index(message, []byte(key)) + len(key) }

// prepare stores the documents that the finds return.
func prepare(t *testing.T, s *server) {
	t.Helper()
	c := &client{conn: connect(t, s), op: operation{name: "insert", vary: findOne.vary, done: insertOne.done}}
	c.message = request(t, bson.D{
		{Key: "insert", Value: "people"}, {Key: "documents", Value: bson.A{person(1)}}, {Key: "$db", Value: "test"},
	})
	c.check(t)
}

// ratio returns the median of what the operation costs the test server over what it costs the floor.
func (op operation) ratio(t *testing.T, mock, floor *server) float64 {
	t.Helper()
	serving, echoing := op.clients(t, mock), op.clients(t, floor)
	for _, c := range echoing { // which learns what to send
		if _, err := c.conn.Write(serving[0].check(t)); err != nil {
			t.Fatal(err)
		}
	}
	ratios := make([]float64, rounds)
	var least, most time.Duration
	for i := range ratios {
		low, high := cost(t, floor, echoing), cost(t, mock, serving)
		ratios[i] = float64(high) / float64(low)
		if i == 0 || high < most {
			least, most = low, high
		}
	}
	for _, c := range serving {
		c.check(t)
	}
	slices.Sort(ratios)
	median := (ratios[rounds/2-1] + ratios[rounds/2]) / 2
	fmt.Printf("%-10s echo %v, test server %v; ratios %.2f to %.2f\n", op.name, least, most, ratios[0], ratios[rounds-1])
	return median
}

// cost returns the server's time for one operation.
func cost(t *testing.T, s *server, clients []*client) time.Duration {
	t.Helper()
	before := s.cpu(t)
	var group sync.WaitGroup
	for _, c := range clients {
		group.Go(func() {
			for range operations / workers {
				if _, err := c.next(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	return (s.cpu(t) - before) / operations
}

// client sends one operation again and again.
type client struct {
	conn           net.Conn
	op             operation
	worker         int
	message, reply []byte
}

func (op operation) clients(t *testing.T, s *server) []*client {
	t.Helper()
	list := make([]*client, workers)
	for i := range list {
		list[i] = &client{conn: connect(t, s), op: op, worker: i, message: op.request(t, i)}
	}
	return list
}

// counted makes the operations of all clients of a process differ, as _ids and transaction numbers must.
var counted [workers]int

func (c *client) next() ([]byte, error) {
	counted[c.worker]++
	c.op.vary(c.message, c.worker, counted[c.worker])
	if _, err := c.conn.Write(c.message); err != nil {
		return nil, err
	}
	var err error
	c.reply, err = wire.ReadMessage(c.conn, c.reply, wire.MaxMessageLength)
	return c.reply, err
}

// check does the operation, looks whether it did what it is for, and returns the reply.
func (c *client) check(t *testing.T) []byte {
	t.Helper()
	reply, err := c.next()
	if err != nil {
		t.Fatal(err)
	}
	m, err := wire.ParseMsg(reply)
	if err != nil {
		t.Fatal(err)
	}
	if !c.op.done(bson.Raw(m.Body)) {
		t.Fatalf("%s is answered %v", c.op.name, bson.Raw(m.Body))
	}
	return reply
}

func connect(t *testing.T, s *server) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
