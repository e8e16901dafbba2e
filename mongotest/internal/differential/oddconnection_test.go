package differential

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// oddConnection is a connection for messages that a server may not answer.
type oddConnection struct {
	net.Conn
	server *server
	db     string
}

func dialOdd(s *server, db string) (*oddConnection, error) {
	conn, err := s.dial()
	return &oddConnection{conn, s, db}, err
}

func (c *oddConnection) close() {
	if c != nil {
		_ = c.Close()
	}
}

// The requestIDs of what is sent.
const (
	oddID  = 7
	lastID = 999
)

// exchange sends a message, and a ping to know when all replies to it have come. It returns these.
func (c *oddConnection) exchange(message []byte) (all oddAnswers) {
	_ = c.SetDeadline(time.Now().Add(roundTripLimit))
	ping := msgWithID(lastID, 0, body(`{"ping": 1, "$db": "admin"}`)(""))
	_, _ = c.Write(append(bytes.Clone(message), ping...)) // Read says if it failed
	for {
		b, err := wire.ReadMessage(c, nil, wire.MaxMessageLength)
		if err != nil {
			return append(all, closedAnswer)
		}
		one, last := c.read(renamed(b, c.server.as, c.server.db))
		if last {
			return all
		}
		all = append(all, one)
	}
}

// read reads a reply. It reports whether that is the one to the ping.
func (c *oddConnection) read(b []byte) (one oddAnswer, last bool) {
	h, err := wire.ParseHeader(b)
	if err != nil {
		return oddAnswer{text: err.Error()}, false
	}
	if h.ResponseTo == lastID {
		return one, true
	}
	flags, body, err := flagsAndBody(h, b)
	if err != nil {
		return oddAnswer{text: err.Error()}, false
	}
	if id, ok := body.Lookup("cursor", "id").AsInt64OK(); ok && id != 0 {
		c.server.cursor = id
	}
	text := normalised(c.db, bson.D{{Key: "odd", Value: 1}}, body).text
	if c.server.cursor != 0 { // a reply may name one that is gone
		text = strings.ReplaceAll(text, fmt.Sprint(c.server.cursor), cursorHere)
	}
	return oddAnswer{fmt.Sprintf("operation %d to %d, flags %d: %s", h.OpCode, h.ResponseTo, flags, text), inShort(body)}, false
}

// inShort returns the code of an error, or "ok".
func inShort(reply bson.Raw) string {
	if code, ok := reply.Lookup("code").AsInt64OK(); ok {
		return fmt.Sprint(code)
	}
	return "ok"
}

// flagsAndBody returns those of a reply, and the first document of an OP_REPLY.
func flagsAndBody(h wire.Header, b []byte) (uint32, bson.Raw, error) {
	if h.OpCode == wire.OpReply {
		r, err := wire.ParseReplies(b)
		return r.Flags, r.Documents, err
	}
	m, err := wire.ParseMsg(b)
	return uint32(m.Flags), m.Body, err
}
