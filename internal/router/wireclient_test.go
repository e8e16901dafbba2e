package router_test

import (
	"net"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// wireClient is a connection to the router on which a test writes commands itself: nothing adds a field, retries, or takes another
// connection.
type wireClient struct {
	w    *world
	conn net.Conn
	sent int32
	buf  []byte
}

func (w *world) dial() *wireClient { return w.dialTo(address) }

// dialTo connects to one of several routers.
func (w *world) dialTo(address string) *wireClient {
	w.Helper()
	conn, err := w.network.DialContext(w.Context(), "tcp", address)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = conn.Close() })
	return &wireClient{w: w, conn: conn}
}

// send sends a command, with the elements that follow it.
func (c *wireClient) send(command bson.D, more ...bson.E) {
	c.w.Helper()
	command = append(append(bson.D{}, command...), more...)
	document, err := bson.Marshal(append(command, bson.E{Key: "$db", Value: "app"}))
	if err != nil {
		c.w.Fatal(err)
	}
	if err := c.write(document); err != nil {
		c.w.Fatal(err)
	}
}

// run sends a command and returns the reply.
func (c *wireClient) run(command bson.D, more ...bson.E) bson.Raw {
	c.w.Helper()
	c.send(command, more...)
	reply, err := c.receive()
	if err != nil {
		c.w.Fatal(err)
	}
	return append(bson.Raw(nil), reply...)
}

// runIn runs a command in a database.
func (c *wireClient) runIn(db string, command bson.D) bson.Raw {
	c.w.Helper()
	reply, err := c.try(document(append(append(bson.D{}, command...), bson.E{Key: "$db", Value: db})))
	if err != nil {
		c.w.Fatal(err)
	}
	return append(bson.Raw(nil), reply...)
}

// try sends the document of a command. The reply is valid until the next one is read.
func (c *wireClient) try(document []byte) (bson.Raw, error) {
	if err := c.write(document); err != nil {
		return nil, err
	}
	return c.receive()
}

func (c *wireClient) write(document []byte) error {
	c.sent++
	at, b := wire.BeginMsg(nil, c.sent, 0, 0)
	_, err := c.conn.Write(wire.EndMessage(append(b, document...), at))
	return err
}

func (c *wireClient) receive() (reply bson.Raw, err error) {
	if c.buf, err = wire.ReadMessage(c.conn, c.buf, wire.MaxMessageLength); err != nil {
		return nil, err
	}
	m, err := wire.ParseMsg(c.buf)
	return m.Body, err
}

// outcome is what a reply says of success or failure.
type outcome struct {
	OK       float64 `bson:"ok"`
	Code     int32   `bson:"code"`
	CodeName string  `bson:"codeName"`
	Text     string  `bson:"errmsg"`
}

// outcomeOf runs a command and returns what its reply says.
func (c *wireClient) outcomeOf(command bson.D, more ...bson.E) outcome {
	c.w.Helper()
	var o outcome
	if err := bson.Unmarshal(c.run(command, more...), &o); err != nil {
		c.w.Fatal(err)
	}
	return o
}

func (c *wireClient) outcomeIn(db string, command bson.D) (o outcome) {
	c.w.Helper()
	if err := bson.Unmarshal(c.runIn(db, command), &o); err != nil {
		c.w.Fatal(err)
	}
	return o
}

// must runs a command that succeeds.
func (c *wireClient) must(command bson.D, more ...bson.E) {
	c.w.Helper()
	if o := c.outcomeOf(command, more...); o.OK != 1 {
		c.w.Fatalf("%v: %+v", command, o)
	}
}

// preferring returns $readPreference with a mode and more fields.
func preferring(mode string, more ...bson.E) bson.E {
	return bson.E{Key: "$readPreference", Value: append(d("mode", mode), more...)}
}

// taggedDC returns tags: a list of tag sets with one tag each.
func taggedDC(names ...string) bson.E {
	sets := bson.A{}
	for _, name := range names {
		sets = append(sets, d("dc", name))
	}
	return bson.E{Key: "tags", Value: sets}
}

// answered returns the member of each attempt of a command so far, in order.
func (w *world) answered(command string) []int {
	var members []int
	for _, e := range w.set.Journal() {
		if e.Command == command && e.ConnID != 0 {
			members = append(members, e.Member)
		}
	}
	return members
}

// last returns the member of the latest attempt of a command.
func (w *world) last(command string) int {
	w.Helper()
	all := w.answered(command)
	if len(all) == 0 {
		w.Fatalf("no member was asked for %s", command)
	}
	return all[len(all)-1]
}
