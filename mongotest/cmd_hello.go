package mongotest

import (
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/admin"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
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
	a, err := parseHello(x)
	if err != nil {
		return err
	}
	if err := checkClient(x.Arg("client")); err != nil {
		return err
	}
	if err := checkBalancing(x, &a); err != nil {
		return err
	}
	if a.hasAwait != a.hasKnown {
		return mongoerr.Errorf(31368, "A request with a 'topologyVersion' must include 'maxAwaitTimeMS' and vice versa")
	}
	if a.hasAwait && x.conn.Set.Version.HasTopologyVersion() {
		if err := awaitChange(x, &a); err != nil {
			return err
		}
		x.Result.Streaming = x.Command.Flags&wire.ExhaustAllowed != 0
		if x.Result.Streaming {
			x.Result.Out[wire.HeaderLength] |= byte(wire.MoreToCome)
		}
	}
	appendHello(x)
	appendService(x, &a)
	if len(a.compression) > 0 {
		x.Result.Out = wire.AppendStrings(x.Result.Out, "compression", a.compression)
	}
	return appendAuthentication(x, &a)
}

// parseHello reads what matters of a hello. The rest is ignored, by the real server's custom: a handshake carries what newer
// clients want to tell.
func parseHello(x *exec) (helloArgs, error) {
	var a helloArgs
	for i := range x.Command.Args {
		e := &x.Command.Args[i]
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
func appendAuthentication(x *exec, a *helloArgs) error {
	if a.mechanisms.Type != 0 {
		if err := appendMechanisms(x, &a.mechanisms); err != nil {
			return err
		}
	}
	if a.speculative.Type == 0 {
		return nil
	}
	return speculate(x, &a.speculative)
}

// noteClient remembers the application's name, which a fail point may ask for.
func noteClient(x *exec) {
	client := x.Arg("client")
	if !client.IsDocument() {
		return
	}
	if app := query.Lookup(client.Data, "application"); app.IsDocument() {
		name := query.Lookup(app.Data, "name")
		x.conn.AppName = string(name.Text())
	}
}

// awaitChange waits until the member's state is another one than the client knows, or the client's patience ends.
func awaitChange(x *exec, a *helloArgs) error {
	type state struct {
		known   bool
		counter int64
		changed <-chan struct{}
	}
	s := call.WithLock(&x.Call, func(x call.Locked) state {
		p := x.Client.Process
		return state{a.processID == p.ProcessID, p.Counter, p.Changed}
	})
	if s.known && a.counter > s.counter {
		return mongoerr.Errorf(31382, "Received a topology version with counter: %d which is greater than the server topology version "+
			"counter: %d", a.counter, s.counter)
	}
	if !s.known || a.counter < s.counter {
		return nil
	}
	cluster := x.Client.Cluster
	cluster.Rest() // who waits for a change is idle
	defer cluster.Active.Add(1)
	x.conn.Counts.Awaiting.Add(1)
	defer x.conn.Counts.Awaiting.Add(-1)
	t := time.NewTimer(a.await)
	defer t.Stop()
	select {
	case <-s.changed:
	case <-t.C:
	case <-x.conn.Done:
		return call.ErrHangUp
	}
	return nil
}

// streamHellos sends hello after hello, each as soon as something changed, until an error is the answer or the connection ends.
func streamHellos(x *exec) error {
	a, err := parseHello(x)
	for more := true; err == nil && more; {
		id := x.conn.deployment.cluster.Replies.Add(1)
		at, out := wire.BeginMsg(x.Result.Out[:0], id, x.Result.ID, wire.MoreToCome)
		x.Result.ID, x.Result.Out = id, out
		if more, err = streamOne(x, &a); err != nil {
			break
		}
		x.Result.Out = wire.EndMessage(x.Result.Out, at)
		x.transcribeReply(nil)
		x.conn.Counts.Out.Add(int64(len(x.Result.Out)))
		err = x.conn.write(x.Result.Out)
	}
	return err
}

// streamOne writes the next hello of a stream, and reports whether more will come.
func streamOne(x *exec, a *helloArgs) (bool, error) {
	a.processID, a.counter = x.conn.lastHello.processID, x.conn.lastHello.counter
	point, err := x.FailPoint() // before the wait, as for every command
	if err == nil {
		err = awaitChange(x, a)
	}
	if errors.Is(err, call.ErrHangUp) {
		return false, err
	}
	x.Result.Body, x.Result.Out = wire.BeginDocument(x.Result.Out)
	x.Result.State = false
	if err != nil {
		x.Result.Out[wire.HeaderLength] &^= byte(wire.MoreToCome)
		x.WriteFailure(mongoerr.From(err), point)
	} else {
		appendHello(x)
		x.Result.Out = wire.AppendDouble(x.Result.Out, "ok", 1)
	}
	x.Finish()
	x.Result.Out = wire.EndDocument(x.Result.Out, x.Result.Body)
	return err == nil, nil
}

// appendHello writes what the member says of itself.
func appendHello(x *exec) {
	x.Result.Out = call.WithLock(&x.Call, func(l call.Locked) []byte { return helloOf(x, l) })
}

func helloOf(x *exec, l call.Locked) []byte {
	rs, s := x.conn.deployment, x.conn.server
	v := rs.config.version
	dst := x.Result.Out
	if v.HasHello() {
		dst = wire.AppendBool(dst, "helloOk", true)
	}
	writable := "isWritablePrimary"
	if x.Command.Name != "hello" {
		writable = "ismaster"
	}
	switch {
	case s.mongos != nil:
		dst = appendMongos(dst, writable)
	case rs.config.standalone:
		dst = wire.AppendBool(dst, writable, true)
	default:
		dst = admin.AppendMembership(l, dst, writable)
	}
	x.conn.lastHello.processID, x.conn.lastHello.counter = s.process.ProcessID, s.process.Counter
	if v.HasTopologyVersion() {
		dst = call.AppendTopologyVersion(dst, s.process.ProcessID, s.process.Counter)
	}
	dst = wire.AppendInt32(dst, "maxBsonObjectSize", query.MaxDocumentSize)
	dst = wire.AppendInt32(dst, "maxMessageSizeBytes", wire.MaxMessageLength)
	dst = wire.AppendInt32(dst, "maxWriteBatchSize", call.MaxBatch)
	dst = wire.AppendDateTime(dst, "localTime", time.Now().UnixMilli())
	dst = wire.AppendInt32(dst, "logicalSessionTimeoutMinutes", parameter.SessionMinutes)
	dst = wire.AppendInt32(dst, "connectionId", int32(x.conn.ID))
	dst = wire.AppendInt32(dst, "minWireVersion", 0)
	dst = wire.AppendInt32(dst, "maxWireVersion", v.WireVersion())
	return wire.AppendBool(dst, "readOnly", false)
}
