package call

import (
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
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

// route executes the command of a mongos at one of the shard's members, again at another one where that is safe.
func route(x *Call) error {
	if err := knownTransaction(x); err != nil {
		return err
	}
	at := len(x.Result.Out)
	for attempt := 1; ; attempt++ {
		if err := x.ChooseMember(); err != nil {
			return err
		}
		err := executeHere(x)
		if x.Client.gone() {
			return ErrHangUp
		}
		if errors.Is(err, ErrHangUp) || x.Client.Member.Gate.IsShut() {
			err = mongoerr.Errorf(mongoerr.HostUnreachable, "mongotest: the connection to %s was lost", x.Client.Member.Addr)
		}
		if err == nil || attempt == routeAttempts || !repeats(x, err) {
			appendRecoveryToken(x, err)
			return err
		}
		x.Record(mongoerr.CodeOf(err))
		x.Result = x.Result.Again(at)
	}
}

// ChooseMember makes the member that the command is for the one that executes it, and waits until there is one.
func (x *Call) ChooseMember() error { return WithLock(x, chooseMember) }

func chooseMember(x Locked) error {
	var m *Member
	w := replica.NewWaiter(func() bool {
		m = destination(x)
		return m != nil
	})
	limit := routePatience
	if x.Command.MaxTime > 0 {
		limit = min(limit, x.Command.MaxTime)
	}
	switch err := x.Client.Set.AwaitLocked(w, x.Client.Done, limit); {
	case errors.Is(err, ErrHangUp):
		return err
	case err != nil && x.Command.MaxTime > 0 && limit == x.Command.MaxTime:
		return inTime(err)
	case err != nil:
		mode := x.Command.readMode
		if mode == "" {
			mode = "primary"
		}
		return mongoerr.Errorf(mongoerr.FailedToSatisfyReadPreference,
			"Could not find host matching read preference { mode: \"%s\" } for set %s", mode,
			x.Client.Cluster.SetName)
	}
	x.Client.Member, x.Client.Epoch = m, m.Epoch
	return nil
}

// repeats reports whether a mongos performs the command once more after an error.
func repeats(x *Call, err error) bool {
	if !mongoerr.Is(mongoerr.CodeOf(err), mongoerr.RetryableWrite) || x.InTransaction() || x.Command.Name == "getMore" {
		return false
	}
	return x.Retryable() || !x.Command.writes()
}

// writes reports whether the command is one for the primary; an aggregate is if its last stage says where to.
func (c *Command) writes() bool {
	if c.Name != "aggregate" {
		return c.Spec.Write
	}
	for i := range c.Args {
		stages := query.Elements(c.Args[i].Value)
		if string(c.Args[i].Key) != "pipeline" || len(stages) == 0 {
			continue
		}
		it := wire.Elements(stages[len(stages)-1].Data)
		return it.Next() && (string(it.Key) == "$out" || string(it.Key) == "$merge")
	}
	return false
}

// knownTransaction refuses to go on with a transaction that began at another mongos, unless the command commits it and says
// where to find its outcome.
func knownTransaction(x *Call) error {
	if !x.InTransaction() {
		return nil
	}
	return WithLock(x, checkKnown)
}

// checkKnown notes a transaction that begins, and refuses one that began elsewhere.
func checkKnown(x Locked) error {
	key := string(x.Command.LSID)
	if x.Command.begins {
		x.Client.Router.Transactions[key] = x.Command.Txn
	}
	known, ok := x.Client.Router.Transactions[key]
	if ok && known == x.Command.Txn {
		return nil
	}
	for i := range x.Command.Args {
		e := &x.Command.Args[i]
		if x.Command.Name == "commitTransaction" && string(e.Key) == "recoveryToken" && len(e.Document()) > len(query.EmptyDocument) {
			x.Command.Recovers = true
			return nil
		}
	}
	if !ok {
		known = -1
	}
	return mongoerr.Errorf(mongoerr.NoSuchTransaction,
		"cannot continue txnId %d for session %s with txnId %d", known, sessionName(x.Command.LSID), x.Command.Txn)
}

// appendRecoveryToken tells the client by what any mongos finds the outcome of its transaction.
func appendRecoveryToken(x *Call, err error) {
	if err != nil || !x.InTransaction() || x.Command.Spec.Ends {
		return
	}
	at, dst := wire.BeginEmbedded(x.Result.Out, "recoveryToken")
	x.Result.Out = wire.EndDocument(wire.AppendString(dst, "recoveryShardId", x.Client.Cluster.SetName), at)
}
