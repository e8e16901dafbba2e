package mongotest

import (
	"errors"
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

const (
	// routePatience is how long a mongos waits for a member that may take a command.
	routePatience = 15 * time.Second
	// routeAttempts is the number of attempts that a mongos makes of a command that may be repeated.
	routeAttempts = 3
)

// route performs the command of a mongos at one of the shard's members, again at another one where that is safe.
func (x *call) route() error {
	if err := x.knownTransaction(); err != nil {
		return err
	}
	at := len(x.result.out)
	for attempt := 1; ; attempt++ {
		if err := x.chooseMember(); err != nil {
			return err
		}
		err := x.perform()
		if x.client.gone() {
			return errHangUp
		}
		if errors.Is(err, errHangUp) || x.client.member.Gate.IsShut() {
			err = mongoerr.Errorf(mongoerr.HostUnreachable, "mongotest: the connection to %s was lost", x.client.member.Addr)
		}
		if err == nil || attempt == routeAttempts || !x.repeats(err) {
			x.appendRecoveryToken(err)
			return err
		}
		x.record(mongoerr.CodeOf(err))
		x.result = x.result.again(at)
	}
}

// chooseMember makes the member that the command is for the one that executes it, and waits until there is one.
func (x *call) chooseMember() error {
	rs := x.client.cluster
	rs.set.Lock()
	defer rs.set.Unlock()
	var m *member
	w := replica.NewWaiter(func() bool {
		m = x.client.router.destinationLocked(x)
		return m != nil
	})
	limit := routePatience
	if x.command.maxTime > 0 {
		limit = min(limit, x.command.maxTime)
	}
	switch err := rs.set.AwaitLocked(w, x.client.done, limit); {
	case errors.Is(err, errHangUp):
		return err
	case err != nil && x.command.maxTime > 0 && limit == x.command.maxTime:
		return x.inTime(err)
	case err != nil:
		mode := x.command.readMode
		if mode == "" {
			mode = "primary"
		}
		return mongoerr.Errorf(mongoerr.FailedToSatisfyReadPreference,
			"Could not find host matching read preference { mode: \"%s\" } for set %s", mode,
			rs.setName)
	}
	x.client.member, x.client.epoch = m, m.Epoch
	return nil
}

// repeats reports whether a mongos performs the command once more after an error.
func (x *call) repeats(err error) bool {
	if !mongoerr.Is(mongoerr.CodeOf(err), mongoerr.RetryableWrite) || x.inTransaction() || x.command.name == "getMore" {
		return false
	}
	return x.retryable() || !x.command.writes()
}

// writes reports whether the command is one for the primary; an aggregate is if its last stage says where to.
func (c *command) writes() bool {
	if c.name != "aggregate" {
		return c.spec.write
	}
	for i := range c.args {
		stages := query.Elements(c.args[i].Value)
		if string(c.args[i].Key) != "pipeline" || len(stages) == 0 {
			continue
		}
		it := wire.Elements(stages[len(stages)-1].Data)
		return it.Next() && (string(it.Key) == "$out" || string(it.Key) == "$merge")
	}
	return false
}

// knownTransaction refuses to go on with a transaction that began at another mongos, unless the command commits it and says
// where to find its outcome.
func (x *call) knownTransaction() error {
	if !x.inTransaction() {
		return nil
	}
	x.client.set.Lock()
	defer x.client.set.Unlock()
	key := string(x.command.lsid)
	if x.command.begins {
		x.client.router.transactions[key] = x.command.txn
	}
	known, ok := x.client.router.transactions[key]
	if ok && known == x.command.txn {
		return nil
	}
	for i := range x.command.args {
		e := &x.command.args[i]
		if x.command.name == "commitTransaction" && string(e.Key) == "recoveryToken" && len(e.Document()) > len(query.EmptyDocument) {
			x.command.recovers = true
			return nil
		}
	}
	if !ok {
		known = -1
	}
	return mongoerr.Errorf(mongoerr.NoSuchTransaction,
		"cannot continue txnId %d for session %s with txnId %d", known, sessionName(x.command.lsid), x.command.txn)
}

// appendRecoveryToken tells the client by what any mongos finds the outcome of its transaction.
func (x *call) appendRecoveryToken(err error) {
	if err != nil || !x.inTransaction() || x.command.spec.ends {
		return
	}
	at, dst := wire.BeginEmbedded(x.result.out, "recoveryToken")
	x.result.out = wire.EndDocument(wire.AppendString(dst, "recoveryShardId", x.client.cluster.setName), at)
}

// readPreference notes which members may answer the command.
func (x *call) readPreference(e *wire.Element) error {
	if err := x.command.readPreference(e); err != nil {
		return err
	}
	if least := 90 * time.Second; x.client.router != nil && x.command.staleness > 0 && x.command.staleness < least {
		return mongoerr.Errorf(mongoerr.MaxStalenessOutOfRange, "maxStalenessSeconds value can not be less than %d", least/time.Second)
	}
	return nil
}

func (c *command) readPreference(e *wire.Element) error {
	doc, err := c.genericDocument(e)
	if doc == nil {
		return err
	}
	if err := fields.ReadPreference.Document(doc, func(*wire.Element) error { return nil }); err != nil {
		return err
	}
	mode := query.Lookup(doc, "mode")
	switch string(mode.Text()) {
	case "primary":
	case "primaryPreferred", "secondary", "secondaryPreferred", "nearest":
		c.secondaryOk = true
	default:
		return fields.NotEnumerated("readPreference.mode", string(mode.Text()))
	}
	c.readMode = string(mode.Text())
	if tags := query.Lookup(doc, "tags"); tags.Type == bson.TypeArray {
		c.readTags = query.Elements(tags.Data)
	}
	staleness := query.Lookup(doc, "maxStalenessSeconds")
	if n, ok := staleness.Integer(); ok && n > 0 && n < math.MaxInt32 {
		c.staleness = time.Duration(n) * time.Second
	}
	return nil
}
