package differential

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest"
)

// server is a connection to one of the two servers.
type server struct {
	dial   func() (net.Conn, error)
	conn   net.Conn
	id     int32
	cursor int64 // the one that the last reply left open
	read   []byte

	db, as string // the database db has the name as here, which is as long; empty if it has the same
}

// authority returns how the real server is reached. Without one the test is skipped, and fails in CI.
func authority(t testing.TB) func() (net.Conn, error) {
	t.Helper()
	uri := spectest.Server(t)
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	return func() (net.Conn, error) { return net.DialTimeout("tcp", u.Host, time.Minute) }
}

// ours starts a server under test, of a version, and returns how it is reached.
func ours(t testing.TB, version string) func() (net.Conn, error) {
	t.Helper()
	rs := mongotest.RunStandaloneT(t, mongotest.InMemory(), mongotest.JournalLimit(0),
		mongotest.Version(version))
	return func() (net.Conn, error) { return rs.Dialer().DialContext(context.Background(), "tcp", rs.Addr(0)) }
}

// version returns the server's version, "9.0" also for one of its patches or a build before its release.
func (s *server) version(t testing.TB) string {
	t.Helper()
	info, err := s.run(bson.D{{Key: "buildInfo", Value: 1}, {Key: "$db", Value: "admin"}})
	if err != nil {
		t.Fatal(err)
	}
	var is struct{ VersionArray []int }
	if err := bson.Unmarshal(info, &is); err != nil || len(is.VersionArray) < 2 {
		t.Fatalf("buildInfo says %v, %v", is, err)
	}
	return fmt.Sprintf("%d.%d", is.VersionArray[0], is.VersionArray[1])
}

// cursorHere stands in a command for the cursor that the server's last reply left open.
const cursorHere = "CURSOR"

// run sends a command and returns the reply, which holds until the next.
func (s *server) run(command bson.D) (bson.Raw, error) {
	if err := s.connect(); err != nil {
		return nil, err
	}
	body, err := bson.Marshal(s.withCursor(command))
	if err != nil {
		return nil, err
	}
	reply, err := s.roundTrip(renamed(body, s.db, s.as))
	if err != nil {
		_ = s.conn.Close()
		s.conn = nil
		return nil, fmt.Errorf("%v: %w", command, err)
	}
	if id, err := reply.LookupErr("cursor", "id"); err == nil {
		s.cursor = id.AsInt64()
	}
	return renamed(reply, s.as, s.db), nil
}

// renamed returns a document with another name of a database, which is as long as the one that it has.
func renamed(document []byte, from, to string) []byte {
	if from == to {
		return document
	}
	return bytes.ReplaceAll(document, []byte(from), []byte(to))
}

// connect makes the connection if there is none. It waits for a server that is being started anew, which may still accept
// connections while it dies.
func (s *server) connect() error {
	if s.conn != nil {
		return nil
	}
	ping, err := bson.Marshal(bson.D{{Key: "ping", Value: 1}, {Key: "$db", Value: "admin"}})
	if err != nil {
		return err
	}
	for range 600 {
		if s.conn, err = s.dial(); err == nil {
			if _, err = s.roundTrip(ping); err == nil {
				return nil
			}
			_ = s.conn.Close()
			s.conn = nil
		}
		<-time.After(100 * time.Millisecond)
	}
	return err
}

// roundTripLimit is longer than the slowest command takes under the race detector on a busy machine.
const roundTripLimit = 5 * time.Minute

func (s *server) roundTrip(body []byte) (bson.Raw, error) {
	s.id++
	at, msg := wire.BeginMsg(nil, s.id, 0, 0)
	_ = s.conn.SetDeadline(time.Now().Add(roundTripLimit))
	if _, err := s.conn.Write(wire.EndMessage(append(msg, body...), at)); err != nil {
		return nil, err
	}
	b, err := wire.ReadMessage(s.conn, s.read, wire.MaxMessageLength)
	if err != nil {
		return nil, err
	}
	s.read = b
	m, err := wire.ParseMsg(b)
	return m.Body, err
}

// withCursor puts the open cursor where a command has a place for one.
func (s *server) withCursor(command bson.D) bson.D {
	out := make(bson.D, len(command))
	for i, e := range command {
		switch v := e.Value.(type) {
		case string:
			if v == cursorHere {
				e.Value = s.cursor
			}
		case bson.A:
			if len(v) == 1 && v[0] == cursorHere {
				e.Value = bson.A{s.cursor}
			}
		}
		out[i] = e
	}
	return out
}
