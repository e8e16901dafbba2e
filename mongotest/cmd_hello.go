package mongotest

import (
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/parameter"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/hello/

// helloArgs is what a hello may ask.
type helloArgs struct {
	await     time.Duration
	hasAwait  bool
	processID bson.ObjectID
	counter   int64
	hasKnown  bool

	loadBalanced bool         // the client knows of a load balancer
	compression  []string     // what both sides have
	mechanisms   wire.Element // the user whose mechanisms are asked for
	speculative  wire.Element // an attempt to authenticate
}

// helloState is the state that the last hello on a connection told of.
type helloState struct {
	processID bson.ObjectID
	counter   int64
}

func cmdHello(x *exec) error {
	a, err := x.helloArgs()
	if err != nil {
		return err
	}
	if err := checkClient(x.arg("client")); err != nil {
		return err
	}
	if err := x.checkBalancing(&a); err != nil {
		return err
	}
	if a.hasAwait != a.hasKnown {
		return mongoerr.Errorf(31368, "A request with a 'topologyVersion' must include 'maxAwaitTimeMS' and vice versa")
	}
	if a.hasAwait && x.conn.set.Version.HasTopologyVersion() {
		if err := x.awaitChange(&a); err != nil {
			return err
		}
		x.result.streaming = x.command.flags&wire.ExhaustAllowed != 0
		if x.result.streaming {
			x.result.out[wire.HeaderLength] |= byte(wire.MoreToCome)
		}
	}
	x.appendHello()
	x.appendService(&a)
	if len(a.compression) > 0 {
		x.result.out = wire.AppendStrings(x.result.out, "compression", a.compression)
	}
	return x.appendAuthentication(&a)
}

// helloArgs reads what matters of a hello. The rest is ignored, by the real server's custom: a handshake carries what newer
// clients want to tell.
func (x *exec) helloArgs() (helloArgs, error) {
	var a helloArgs
	for i := range x.command.args {
		e := &x.command.args[i]
		switch string(e.Key) {
		case "topologyVersion":
			id, counter := query.Lookup(e.Value, "processId"), query.Lookup(e.Value, "counter")
			if e.Type != bson.TypeEmbeddedDocument || id.Type != bson.TypeObjectID || counter.Type != bson.TypeInt64 {
				return a, mongoerr.Errorf(mongoerr.TypeMismatch, "BSON field 'hello.topologyVersion' needs a processId and a counter")
			}
			copy(a.processID[:], id.Data)
			a.counter, a.hasKnown = counter.Integer()
		case "maxAwaitTimeMS":
			n, ok := e.Int64()
			if !ok || n < 0 {
				return a, mongoerr.Errorf(31373, "maxAwaitTimeMS must be a non-negative integer")
			}
			a.await, a.hasAwait = time.Duration(n)*time.Millisecond, true
		case "saslSupportedMechs":
			a.mechanisms = *e
		case "speculativeAuthenticate":
			a.speculative = *e
		case "loadBalanced":
			a.loadBalanced = e.True()
		case "compression":
			var err error
			if a.compression, err = x.conn.negotiate(e); err != nil {
				return a, err
			}
		}
	}
	return a, nil
}

// appendAuthentication answers what a hello asks about authentication.
func (x *exec) appendAuthentication(a *helloArgs) error {
	if a.mechanisms.Type != 0 {
		if err := x.appendMechanisms(&a.mechanisms); err != nil {
			return err
		}
	}
	if a.speculative.Type == 0 {
		return nil
	}
	return x.speculate(&a.speculative)
}

// noteClient remembers the application's name, which a fail point may ask for.
func (x *exec) noteClient() {
	client := x.arg("client")
	if !client.IsDocument() {
		return
	}
	if app := query.Lookup(client.Data, "application"); app.IsDocument() {
		name := query.Lookup(app.Data, "name")
		x.conn.appName = string(name.Text())
	}
}

// awaitChange waits until the member's state is another one than the client knows, or the client's patience ends.
func (x *exec) awaitChange(a *helloArgs) error {
	rs, s := x.conn.deployment, x.conn.server
	rs.set.Lock()
	known, counter, changed := a.processID == s.process.ProcessID, s.process.Counter, s.process.Changed
	rs.set.Unlock()
	if known && a.counter > counter {
		return mongoerr.Errorf(31382, "Received a topology version with counter: %d which is greater than the server topology version "+
			"counter: %d", a.counter, counter)
	}
	if !known || a.counter < counter {
		return nil
	}
	rs.cluster.rest() // who waits for a change is idle
	defer rs.cluster.active.Add(1)
	t := time.NewTimer(a.await)
	defer t.Stop()
	select {
	case <-changed:
	case <-t.C:
	case <-x.conn.done:
		return errHangUp
	}
	return nil
}

// stream sends hello after hello, each as soon as something changed, until an error is the answer or the connection ends.
func (x *exec) stream() error {
	a, err := x.helloArgs()
	for more := true; err == nil && more; {
		id := x.conn.deployment.cluster.replies.Add(1)
		at, out := wire.BeginMsg(x.result.out[:0], id, x.result.id, wire.MoreToCome)
		x.result.id, x.result.out = id, out
		if more, err = x.streamOne(&a); err != nil {
			break
		}
		x.result.out = wire.EndMessage(x.result.out, at)
		x.transcribeReply(nil)
		err = x.conn.write(x.result.out)
	}
	return err
}

// streamOne writes the next hello of a stream, and reports whether more will come.
func (x *exec) streamOne(a *helloArgs) (bool, error) {
	a.processID, a.counter = x.conn.lastHello.processID, x.conn.lastHello.counter
	point, err := x.failPoint() // before the wait, as for every command
	if err == nil {
		err = x.awaitChange(a)
	}
	if errors.Is(err, errHangUp) {
		return false, err
	}
	x.result.body, x.result.out = wire.BeginDocument(x.result.out)
	x.result.state = false
	if err != nil {
		x.result.out[wire.HeaderLength] &^= byte(wire.MoreToCome)
		x.writeFailure(mongoerr.From(err), point)
	} else {
		x.appendHello()
		x.result.out = wire.AppendDouble(x.result.out, "ok", 1)
	}
	x.finish()
	x.result.out = wire.EndDocument(x.result.out, x.result.body)
	return err == nil, nil
}

// appendHello writes what the member says of itself.
func (x *exec) appendHello() {
	rs, s := x.conn.deployment, x.conn.server
	rs.set.Lock()
	defer rs.set.Unlock()
	v := rs.config.version
	dst := x.result.out
	if v.HasHello() {
		dst = wire.AppendBool(dst, "helloOk", true)
	}
	writable := "isWritablePrimary"
	if x.command.name != "hello" {
		writable = "ismaster"
	}
	switch {
	case s.mongos != nil:
		dst = appendMongos(dst, writable)
	case rs.config.standalone:
		dst = wire.AppendBool(dst, writable, true)
	default:
		dst = s.member.appendMembershipLocked(dst, writable)
	}
	x.conn.lastHello.processID, x.conn.lastHello.counter = s.process.ProcessID, s.process.Counter
	if v.HasTopologyVersion() {
		dst = appendTopologyVersion(dst, s.process.ProcessID, s.process.Counter)
	}
	dst = wire.AppendInt32(dst, "maxBsonObjectSize", query.MaxDocumentSize)
	dst = wire.AppendInt32(dst, "maxMessageSizeBytes", wire.MaxMessageLength)
	dst = wire.AppendInt32(dst, "maxWriteBatchSize", maxBatch)
	dst = wire.AppendDateTime(dst, "localTime", time.Now().UnixMilli())
	dst = wire.AppendInt32(dst, "logicalSessionTimeoutMinutes", parameter.SessionMinutes)
	dst = wire.AppendInt32(dst, "connectionId", int32(x.conn.id))
	dst = wire.AppendInt32(dst, "minWireVersion", 0)
	dst = wire.AppendInt32(dst, "maxWireVersion", v.WireVersion())
	x.result.out = wire.AppendBool(dst, "readOnly", false)
}
