package mgo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	driver "github.com/globalsign/mgo"
	"github.com/globalsign/mgo/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

// world is a replica set of three, whose members have the tag n with their number, and a router in front of it.
type world struct {
	*testing.T
	set     *mongotest.Deployment
	address string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	tag := func(n int) mongotest.Option {
		return mongotest.Member(n, mongotest.Tags(map[string]string{"n": strconv.Itoa(n)}))
	}
	set := mongotest.RunReplicaSetT(t, 3, tag(0), tag(1), tag(2))
	r, err := router.New(router.Config{Upstream: options.Client().ApplyURI(set.URI())})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go r.Serve(l)
	t.Cleanup(r.Close)
	return &world{T: t, set: set, address: l.Addr().String()}
}

// age is what a server seems to be to mgo.
type age struct {
	wire     int32 // the maxWireVersion in its hello; 0 leaves it as it is
	noMongos bool  // its hello does not say that it is a mongos
}

// today is the router as it is: mgo sends finds as commands. That of 2014 has write commands only, that of 2012 none.
var (
	today  = age{}
	of2014 = age{wire: 3}
	of2012 = age{wire: 1}
)

// connect returns a session of mgo with the router, and what it sends.
func (w *world) connect(a age) (*driver.Session, *sent) {
	w.Helper()
	log := &sent{}
	s, err := driver.DialWithInfo(&driver.DialInfo{
		Addrs: []string{w.address}, Timeout: time.Minute,
		DialServer: func(addr *driver.ServerAddr) (net.Conn, error) {
			c, err := net.Dial("tcp", addr.String())
			return &oldConn{Conn: c, age: a, log: log}, err
		},
	})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(s.Close)
	s.SetSafe(&driver.Safe{W: 3}) // what is written is at each member
	return s, log
}

// discover waits until the router knows each member. Before that a read goes where it would not go later.
func (w *world) discover(s *driver.Session) {
	w.Helper()
	s = s.Copy()
	defer s.Close()
	s.SetMode(driver.Nearest, true)
	for i := range w.set.Members() {
		s.SelectServers(bson.D{{Name: "n", Value: strconv.Itoa(i)}})
		if err := s.DB("app").C("none").Find(nil).One(nil); !errors.Is(err, driver.ErrNotFound) {
			w.Fatal(err)
		}
	}
}

// answered returns the member that executed the last command of a name.
func (w *world) answered(command string) int {
	w.Helper()
	for _, e := range slices.Backward(w.set.Journal()) {
		if e.Command == command {
			return e.Member
		}
	}
	w.Fatalf("nobody executed %s:\n%s", command, w.set.Dump())
	return 0
}

// sent are the messages that mgo sends.
type sent struct {
	mu       sync.Mutex
	messages [][]byte
}

func (s *sent) add(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(b) > 0 {
		n := int(binary.LittleEndian.Uint32(b))
		s.messages = append(s.messages, bytes.Clone(b[:n]))
		b = b[n:]
	}
}

// has returns how many messages have an operation code.
func (s *sent) has(opCode int32) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, b := range s.messages {
		if h, _ := wire.ParseHeader(b); h.OpCode == opCode {
			n++
		}
	}
	return n
}

// query returns the last OP_QUERY of a collection.
func (s *sent) query(collection string) wire.Query {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range slices.Backward(s.messages) {
		if q, err := wire.ParseQuery(b); err == nil && string(q.Collection) == collection {
			return q
		}
	}
	return wire.Query{}
}

// oldConn notes what mgo sends, and changes what the router's hello says.
type oldConn struct {
	net.Conn
	age    age
	log    *sent
	unread []byte
}

func (c *oldConn) Write(b []byte) (int, error) {
	c.log.add(b) // mgo writes whole messages
	return c.Conn.Write(b)
}

func (c *oldConn) Read(b []byte) (int, error) {
	if len(c.unread) == 0 {
		message, err := wire.ReadMessage(c.Conn, nil, wire.MaxMessageLength)
		if err != nil {
			return 0, err
		}
		c.unread = c.age.change(message)
	}
	n := copy(b, c.unread)
	c.unread = c.unread[n:]
	return n, nil
}

// change changes a message in place, if it is the reply to a hello.
func (a age) change(message []byte) []byte {
	if at := bytes.Index(message, []byte("\x10maxWireVersion\x00")); at >= 0 && a.wire > 0 {
		binary.LittleEndian.PutUint32(message[at+len("\x10maxWireVersion\x00"):], uint32(a.wire))
	}
	if at := bytes.Index(message, []byte("isdbgrid\x00")); at >= 0 && a.noMongos {
		copy(message[at:], "other...")
	}
	return message
}
