package router

import (
	"context"
	"errors"
	"time"

	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// search runs a getMore or a killCursors at the member of its cursor. If that is not known, because another router opened the cursor,
// each member is asked: one that has it not changes nothing.
func (c *client) search(ctx context.Context, f *forwarded) error {
	if f.command.Name == "killCursors" {
		return c.killCursors(ctx, f)
	}
	id := f.command.cursor
	if s := c.router.serverAt(c.router.cursors.member(id)); s != nil {
		err := c.at(ctx, s, f)
		if isNotFound(err) {
			c.departure.closed(id)
			c.router.cursors.drop(id)
		}
		return err
	}
	if err := c.router.checkedAll(ctx); err != nil {
		return err
	}
	var missing, unreachable error
	members := c.router.members()
	if len(members) == 0 {
		return errNoMembers
	}
	for _, s := range members {
		switch err := c.at(ctx, s, f); {
		case err == nil:
			c.router.cursors.put(id, f.place(s.Address()), f.began)
			return nil
		case isNotFound(err):
			missing = err
		default:
			unreachable = err
		}
	}
	if unreachable != nil { // it may have the cursor
		return unreachable
	}
	return missing
}

// at runs the operation at one member.
func (c *client) at(ctx context.Context, s *cluster.Server, f *forwarded) error {
	if f.awaits() {
		limit, err := c.router.awaiting.begin(ctx, s.Address())
		if err != nil {
			return err
		}
		defer c.router.awaiting.end(s.Address())
		f.awaitLimit = limit
	}
	f.op.Pin = operation.PinTo(s)
	return c.router.runner.Run(ctx, &f.op)
}

// errNoMembers is the error of a search when no member is known.
var errNoMembers = errors.New("no member is known that may have the cursor")

func isNotFound(err error) bool {
	var e official.CommandError
	return errors.As(err, &e) && e.Code == codeCursorNotFound
}

// serverAt returns the member with an address, nil if there is none.
func (r *Router) serverAt(address string) *cluster.Server {
	if address == "" {
		return nil
	}
	s := r.runner.Cluster().Snapshot()
	d := s.Description.Server(address)
	if d == nil {
		return nil
	}
	return s.Server(d)
}

// checkLimit is how long a search waits for the first check of each member.
const checkLimit = 2 * time.Second

// checkedAll waits until each member has been checked once.
func (r *Router) checkedAll(ctx context.Context) error {
	_, err := r.await(ctx, checkLimit, func(d *topology.Description) bool { return !d.Discovering() })
	return err
}

// await waits until what is known of the members is enough, at most for a time. It reports whether it is.
func (r *Router) await(ctx context.Context, limit time.Duration, enough func(*topology.Description) bool) (bool, error) {
	for deadline := time.Now().Add(limit); ; {
		s := r.runner.Cluster().Snapshot()
		left := time.Until(deadline)
		if known := enough(s.Description); known || left <= 0 {
			return known, nil
		}
		if err := r.runner.Cluster().WaitForChange(ctx, s, left); err != nil {
			return false, err
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
}

// members returns the members that may have data: also those that cannot be reached now.
func (r *Router) members() []*cluster.Server {
	var all []*cluster.Server
	s := r.runner.Cluster().Snapshot()
	for _, d := range s.Description.Servers {
		if d.Type != topology.RSArbiter {
			all = append(all, s.Server(d))
		}
	}
	return all
}

// killCursors asks the member of the cursors to end them, if that is one and known; else each member. The reply says then of each cursor
// what the member says that has it.
func (c *client) killCursors(ctx context.Context, f *forwarded) error {
	ids := cursorIDs(f.command.Body)
	if s := c.router.serverAt(c.router.memberOfAll(ids)); s != nil {
		err := c.at(ctx, s, f)
		c.forget(ids)
		return err
	}
	if err := c.router.checkedAll(ctx); err != nil {
		return err
	}
	found := make(map[int64]string)
	answered := false
	last := errNoMembers
	for _, s := range c.router.members() {
		if last = c.at(ctx, s, f); last != nil {
			continue
		}
		answered = true
		noteKilled(found, f.replyBody())
	}
	if !answered {
		return last
	}
	c.forget(ids)
	f.replace(killedReply(ids, found))
	return nil
}

func (c *client) forget(ids []int64) {
	c.departure.closed(ids...)
	for _, id := range ids {
		c.router.cursors.drop(id)
	}
}

// memberOfAll returns the address of the member that has all cursors, "" if it is not known or there is none.
func (r *Router) memberOfAll(ids []int64) string {
	all := ""
	for _, id := range ids {
		address := r.cursors.member(id)
		if address == "" || all != "" && address != all {
			return ""
		}
		all = address
	}
	return all
}

// cursorIDs returns the ids in the command killCursors.
func cursorIDs(body []byte) []int64 {
	var ids []int64
	list := field(body, "cursors")
	for it := wire.Elements(list.Array()); it.Next(); {
		if id, ok := it.Int64(); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// outcomes are the arrays in the reply to killCursors.
var outcomes = []string{"cursorsKilled", "cursorsNotFound", "cursorsAlive", "cursorsUnknown"}

const notFoundOutcome = "cursorsNotFound"

// noteKilled notes what a member says of the cursors that it has.
func noteKilled(found map[int64]string, reply []byte) {
	for it := wire.Elements(reply); it.Next(); {
		name := string(it.Key)
		if name == notFoundOutcome {
			continue
		}
		for ids := wire.Elements(it.Array()); ids.Next(); {
			if id, ok := ids.Int64(); ok {
				found[id] = name
			}
		}
	}
}

func killedReply(ids []int64, found map[int64]string) []byte {
	at, dst := wire.BeginDocument(nil)
	for _, name := range outcomes {
		array, b := wire.BeginArray(dst, name)
		n := 0
		for _, id := range ids {
			outcome := found[id]
			if outcome == "" {
				outcome = notFoundOutcome
			}
			if outcome == name {
				b = wire.AppendInt64(b, wire.ArrayKey(n), id)
				n++
			}
		}
		dst = wire.EndDocument(b, array)
	}
	return wire.EndDocument(wire.AppendDouble(dst, "ok", 1), at)
}
