//go:build !spec_holdfast

package spec

import (
	"encoding/binary"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// failPoint is the failCommand that stands before a router, as a mongos has its own: it acts between the driver and the router. Other fail
// points are set behind the router, which passes them on.
type failPoint struct {
	mu sync.Mutex
	effect
	times, skip int // times is -1 for always
}

// effect is what a fail point does to the commands that it concerns.
type effect struct {
	Commands          []string `bson:"failCommands"`
	AppName           string   `bson:"appName"`
	ErrorCode         *int32   `bson:"errorCode"`
	ErrorLabels       []string `bson:"errorLabels"`
	CloseConnection   bool     `bson:"closeConnection"`
	BlockConnection   bool     `bson:"blockConnection"`
	BlockTimeMS       int64    `bson:"blockTimeMS"`
	WriteConcernError bson.Raw `bson:"writeConcernError"`
}

const (
	setPoint    = "configureFailPoint"
	failCommand = "failCommand"
	always      = -1
)

// set does what configureFailPoint says.
func (p *failPoint) set(command bson.Raw) error {
	var given struct {
		Mode bson.RawValue `bson:"mode"`
		Data effect        `bson:"data"`
	}
	if err := bson.Unmarshal(command, &given); err != nil {
		return err
	}
	counts := struct{ Times, Skip int }{Times: always}
	if word, ok := given.Mode.StringValueOK(); !ok {
		if err := given.Mode.Unmarshal(&counts); err != nil {
			return err
		}
	} else if word == "off" {
		counts.Times = 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.effect, p.times, p.skip = given.Data, counts.Times, counts.Skip
	for i, name := range p.Commands {
		p.Commands[i] = newName(name)
	}
	return nil
}

// newName is the name of a command today, in small letters.
func newName(name string) string {
	if name = strings.ToLower(name); name == "ismaster" {
		return "hello"
	}
	return name
}

// take counts a command, and returns what is done to it; nil if nothing is.
func (p *failPoint) take(command, app string) *effect {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.times == 0, !slices.Contains(p.Commands, newName(command)), p.AppName != "" && p.AppName != app:
		return nil
	case p.skip > 0:
		p.skip--
		return nil
	case p.times > 0:
		p.times--
	}
	done := p.effect
	return &done
}

// pointedListener accepts the connections of a router's clients, with a fail point before the router.
type pointedListener struct {
	net.Listener
	point *failPoint
}

func (l *pointedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &pointedConn{Conn: c, point: l.point}, nil
}

// pointedConn is a client's connection as the router sees it: without the messages that the fail point has dealt with.
type pointedConn struct {
	net.Conn
	point *failPoint

	app    string // by the client's hello
	in     []byte // what came of the next message
	passed []byte // what the router has not read yet of the last one
	out    []byte // what the router has written of a reply

	asked atomic.Pointer[asked]
}

// asked is a client's message that has gone to the router.
type asked struct {
	wire.ClientMessage
	effect *effect // on the reply, nil for none
}

func (c *pointedConn) Read(b []byte) (int, error) {
	for len(c.passed) == 0 {
		message, err := c.next()
		if err != nil {
			return 0, err
		}
		if c.passed, err = c.pass(message); err != nil {
			return 0, err
		}
	}
	n := copy(b, c.passed)
	c.passed = c.passed[n:]
	return n, nil
}

// next reads a message. What came of it before an error stays: the router ends reads by a deadline.
func (c *pointedConn) next() ([]byte, error) {
	for {
		if message := wholeMessage(c.in); message != nil {
			c.in = slices.Clone(c.in[len(message):])
			return message, nil
		}
		var b [16 << 10]byte
		n, err := c.Conn.Read(b[:])
		c.in = append(c.in, b[:n]...)
		if err != nil {
			return nil, err
		}
	}
}

// wholeMessage returns the message with which b begins, nil if it is not whole.
func wholeMessage(b []byte) []byte {
	const length = 4 // bytes
	if len(b) < length {
		return nil
	}
	if n := int(binary.LittleEndian.Uint32(b)); n >= length && n <= len(b) {
		return b[:n:n]
	}
	return nil
}

// pass returns the message if it is for the router.
func (c *pointedConn) pass(message []byte) ([]byte, error) {
	m, err := wire.ParseClientMessage(message)
	if err != nil {
		return message, nil //nolint:nilerr // the router deals with it
	}
	body := bson.Raw(m.Body)
	if name, ok := body.Lookup("client", "application", "name").StringValueOK(); ok {
		c.app = name
	}
	if name, _ := body.Lookup(setPoint).StringValueOK(); m.Name == setPoint && name == failCommand {
		if err := c.point.set(body); err != nil {
			return nil, err
		}
		return nil, c.reply(&m, bson.D{{Key: "ok", Value: 1.0}})
	}
	a := &asked{ClientMessage: m, effect: c.point.take(m.Name, c.app)}
	c.asked.Store(a)
	if stopped, err := c.act(a); stopped || err != nil {
		return nil, err
	}
	return message, nil
}

// act does what happens to a command before it is executed, and reports whether it must not be.
func (c *pointedConn) act(a *asked) (stopped bool, err error) {
	e := a.effect
	switch {
	case e == nil:
		return false, nil
	case e.BlockConnection:
		testserver.Sleep(nil, time.Duration(e.BlockTimeMS)*time.Millisecond)
	}
	switch {
	case e.CloseConnection:
		_ = c.Close()
		return true, io.EOF
	case e.ErrorCode != nil:
		return true, c.reply(&a.ClientMessage, e.document(&a.ClientMessage))
	}
	return false, nil
}

// reply answers the client in place of the router.
func (c *pointedConn) reply(m *wire.ClientMessage, document bson.D) error {
	if m.Unanswered() {
		return nil
	}
	body, err := bson.Marshal(document)
	if err == nil {
		_, err = c.Conn.Write(m.AppendReply(nil, m.Header.RequestID, body))
	}
	return err
}

// Write sends the replies of the router, in which the fail point may put the error of a write concern.
func (c *pointedConn) Write(b []byte) (int, error) {
	c.out = append(c.out, b...)
	for {
		message := wholeMessage(c.out)
		if message == nil {
			return len(b), nil
		}
		c.out = slices.Clone(c.out[len(message):])
		if err := c.send(message, c.asked.Load()); err != nil {
			return 0, err
		}
	}
}

// send sends one reply. When more of a stream follow, the fail point acts as if the command had come again.
func (c *pointedConn) send(message []byte, a *asked) error {
	if a != nil && a.effect != nil {
		message = a.effect.amended(message)
	}
	if _, err := c.Conn.Write(message); err != nil || a == nil || !wire.MoreFollow(message) {
		return err
	}
	a.effect = c.point.take(a.Name, c.app)
	_, err := c.act(a)
	return err
}

// amended returns a reply with the error of a write concern, if the fail point has one.
func (e *effect) amended(message []byte) []byte {
	m, err := wire.ParseMsg(message)
	if err != nil || e.WriteConcernError == nil {
		return message
	}
	h, _ := wire.ParseHeader(message)
	at, b := wire.BeginMsg(nil, h.RequestID, h.ResponseTo, 0)
	inner := len(b)
	b = append(b, m.Body[:len(m.Body)-1]...)
	b = wire.AppendDocument(b, "writeConcernError", e.WriteConcernError)
	if e.ErrorLabels != nil {
		b = wire.AppendStrings(b, "errorLabels", e.ErrorLabels)
	}
	return wire.EndMessage(wire.EndDocument(b, inner), at)
}

// document is the error that a fail point answers.
func (e *effect) document(m *wire.ClientMessage) bson.D {
	d := bson.D{
		{Key: "ok", Value: 0.0},
		{Key: "errmsg", Value: "Failing command via 'failCommand' failpoint"},
		{Key: "code", Value: *e.ErrorCode},
		{Key: "codeName", Value: codeNames[*e.ErrorCode]},
	}
	labels := e.ErrorLabels
	if labels == nil {
		labels = labelsOf(m, *e.ErrorCode)
	}
	if len(labels) > 0 {
		d = append(d, bson.E{Key: "errorLabels", Value: labels})
	}
	return d
}

// codeNames are those that cases ask for.
var codeNames = map[int32]string{11601: "Interrupted"}

// The codes to which a mongos gives labels in a transaction, and in a change stream: those of retryable writes, and some more of each.
var (
	retryable = []int32{6, 7, 89, 91, 134, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436}
	transient = append([]int32{24, 112, 239, 246, 251, 267}, retryable...)
	resumable = append([]int32{63, 133, 150, 234}, retryable...)
)

// labelsOf returns the labels that a mongos gives to its own error.
func labelsOf(m *wire.ClientMessage, code int32) []string {
	body := bson.Raw(m.Body)
	ends := m.Name == "commitTransaction" || m.Name == "abortTransaction"
	_, inTransaction := body.Lookup("autocommit").BooleanOK()
	_, watches := body.Lookup("pipeline", "0", "$changeStream").DocumentOK()
	switch {
	case inTransaction && slices.Contains(transient, code) && (!ends || !slices.Contains(retryable, code)):
		return []string{"TransientTransactionError"}
	case watches && slices.Contains(resumable, code):
		return []string{"ResumableChangeStreamError"}
	}
	return nil
}
