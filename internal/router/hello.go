package router

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

const (
	maxDocument     = 16 << 20
	maxBatch        = 100_000
	appended        = 4 << 10 // bytes, at most, that a command has more at the member, which takes maxMessageBytes in all
	firstVersion    = 0       // the counter of topologyVersion; a reply with it does not replace what a driver knows by quiesceVersion
	quiesceVersion  = 1
	quiesceModeText = "The server is in quiesce mode and will shut down"
)

// hello answers the handshake and the monitors of drivers. A hello with topologyVersion and maxAwaitTimeMS waits until something changes,
// which is the end of the router only; with the flag exhaustAllowed the replies go on without another request.
func (c *client) hello(q *command) error {
	await := c.awaited(q)
	if await > 0 || c.router.wire.Load() == 0 {
		c.watch()
	} else {
		c.watcher.begin(time.Now()) // a login in it may wait for the members
	}
	defer c.endWatch()
	if err := c.router.discovered(c.ctx); err != nil {
		return c.refuse(q, &refusal{code: codeHostUnreachable, name: "HostUnreachable", text: err.Error()})
	}
	if await == 0 {
		document := c.helloDocument(q)
		c.greeted = true
		return c.answer(q, document)
	}
	c.greeted = true // only a monitor waits
	if c.in.large != nil {
		q.withoutFields("helloOk", "loadBalanced")
		c.in.release() // strangers wait, too, as long as they like
	}
	exhaust := q.Flags&wire.ExhaustAllowed != 0
	responseTo := q.Header.RequestID
	for {
		c.awaitChange(await)
		if c.ctx.Err() != nil {
			return c.ctx.Err()
		}
		if q.Header.OpCode != wire.OpMsg {
			return c.answer(q, c.helloDocument(q))
		}
		quiet := !c.router.quiesce.on()
		var flags wire.MsgFlags
		if exhaust && quiet {
			flags = wire.MoreToCome
		}
		id := c.router.ids.Add(1)
		at, b := wire.BeginMsg(nil, id, responseTo, flags)
		if err := c.write(wire.EndMessage(append(b, c.helloDocument(q)...), at)); err != nil || flags == 0 {
			return err
		}
		responseTo = id
	}
}

// awaited returns how long a hello waits for a change, 0 if it is answered at once.
func (c *client) awaited(q *command) time.Duration {
	version, asked := field(q.Body, "topologyVersion"), field(q.Body, "maxAwaitTimeMS")
	ms, ok := asked.Int64()
	if version.Document() == nil || !ok || ms <= 0 || q.silent() {
		return 0
	}
	process, counter := field(version.Document(), "processId"), field(version.Document(), "counter")
	n, _ := counter.Int64()
	if process.Type != bson.TypeObjectID || bson.ObjectID(process.Value) != c.router.process || n != c.router.version() {
		return 0
	}
	limit := int64(math.MaxInt32)
	if c.isStranger() {
		limit = strangerSilence.Milliseconds()
	}
	return time.Duration(min(ms, limit)) * time.Millisecond
}

func (c *client) awaitChange(limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.router.quiesce.began:
	case <-c.ctx.Done():
	}
}

func (r *Router) version() int64 {
	if r.quiesce.on() {
		return quiesceVersion
	}
	return firstVersion
}

// helloDocument is the reply to a hello: a mongos, or that it will end.
func (c *client) helloDocument(q *command) []byte {
	if !c.departure.balanced && c.router.quiesce.tells(q, !c.greeted) {
		e := &refusal{code: codeShutdownInProgress, name: "ShutdownInProgress", text: quiesceModeText}
		document := e.append(nil)
		return wire.EndDocument(c.router.appendVersion(document[:len(document)-1], quiesceVersion), 0)
	}
	known := c.router.runner.Cluster().Snapshot().Description
	writable := "isWritablePrimary"
	if q.Name != "hello" {
		writable = "ismaster"
	}
	at, b := wire.BeginDocument(nil)
	b = wire.AppendBool(b, writable, true)
	b = wire.AppendString(b, "msg", "isdbgrid")
	b = c.router.appendVersion(b, firstVersion)
	if asked := field(q.Body, "helloOk"); asked.True() {
		b = wire.AppendBool(b, "helloOk", true)
	}
	b = wire.AppendInt32(b, "maxBsonObjectSize", maxDocument)
	b = wire.AppendInt32(b, "maxMessageSizeBytes", maxMessageBytes-appended)
	b = wire.AppendInt32(b, "maxWriteBatchSize", maxBatch)
	b = wire.AppendDateTime(b, "localTime", time.Now().UnixMilli())
	if minutes := c.router.sessionTimeout(known); minutes != nil {
		b = wire.AppendInt32(b, "logicalSessionTimeoutMinutes", int32(*minutes))
	}
	b = wire.AppendInt64(b, "connectionId", c.id)
	b = wire.AppendInt32(b, "maxWireVersion", c.router.maxWire(known))
	b = wire.AppendInt32(b, "minWireVersion", 0)
	if balanced := field(q.Body, "loadBalanced"); balanced.True() {
		c.greetBalanced()
		b = wire.AppendObjectID(b, "serviceId", c.router.process)
	}
	b = c.speculate(c.appendMechanisms(b, q.Body), q.Body)
	return wire.EndDocument(c.router.appendOK(b), at)
}

func (r *Router) appendVersion(dst []byte, counter int64) []byte {
	at, dst := wire.BeginEmbedded(dst, "topologyVersion")
	dst = wire.AppendObjectID(dst, "processId", r.process)
	return wire.EndDocument(wire.AppendInt64(dst, "counter", counter), at)
}

// maxWire returns the least of the members' wire versions and ours; while no member is known, the last one that was.
func (r *Router) maxWire(known *topology.Description) int32 {
	const none = math.MaxInt32
	least := int32(none)
	for _, s := range known.Servers {
		if s.DataBearing() {
			least = min(least, s.MaxWireVersion)
		}
	}
	if least == none {
		return r.wire.Load()
	}
	least = min(least, topology.MaxWireVersion)
	r.wire.Store(least)
	return least
}

// sessionTimeout returns for how many minutes all members keep a session, nil if one of them has no sessions; while no member is known, what
// was true of the last ones: clients must not take a failover for the end of sessions.
func (r *Router) sessionTimeout(known *topology.Description) *int64 {
	if slices.ContainsFunc(known.Servers, (*topology.Server).DataBearing) {
		r.sessions.Store(known.SessionTimeoutMinutes)
	}
	return r.sessions.Load()
}

// discovered waits until a member is known for the first time: before that nobody knows the wire version.
func (r *Router) discovered(ctx context.Context) error {
	if r.wire.Load() != 0 {
		return nil
	}
	known, err := r.await(ctx, r.cfg.Window, func(d *topology.Description) bool {
		r.sessionTimeout(d)
		return r.maxWire(d) != 0
	})
	if err != nil || known {
		return err
	}
	return fmt.Errorf("no member has answered yet: %v", r.runner.Cluster().Snapshot().Description)
}
