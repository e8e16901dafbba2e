package call

import (
	"sync/atomic"

	"github.com/holdfast-db/holdfast/mongotest/internal/status"
)

// counted calls count with what counts the command: the server that received it and, behind a mongos, the member that executes it. Nobody
// counts what the test itself does.
func (x *Call) counted(count func(*status.Counts)) {
	if x.Client.Direct {
		return
	}
	count(x.Client.Counts)
	if m := x.Client.Member; m != nil && x.Client.Router != nil {
		count(m.Counts.Load())
	}
}

// countOperation counts the command, unless its statements are counted or it is a hello.
func (x *Call) countOperation() {
	kind, v := status.Command, x.Client.Set.Version
	switch x.Command.Name {
	case "insert", "update", "delete", "bulkWrite":
		return
	case "find":
		kind = status.Query
	case "getMore":
		kind = status.GetMore
	case "aggregate":
		if v.AtLeast(9, 0) {
			kind = status.Aggregate
		} else if v.AtLeast(7, 1) {
			kind = status.Query
		}
	}
	if !x.Command.Spec.Greeting {
		x.counted(func(c *status.Counts) { c.Count(kind, 1) })
	}
}

// CountStatement counts a statement that was executed: "insert", "update" or "delete".
func (x *Call) CountStatement(name string, o *Outcome) {
	x.counted(func(c *status.Counts) {
		c.Count(status.KindOf(name), 1)
		c.Errors.Add(int64(len(o.Failures)))
	})
}

// enter counts the command among those that are executed, until leave. It returns where, nil if nobody counts it.
func (x *Call) enter() *atomic.Int64 {
	if x.Command.Spec.Service || x.Client.Member == nil || x.Client.Direct {
		return nil
	}
	counts := x.Client.Member.Counts.Load()
	n := &counts.Readers
	if x.Command.Spec.Write {
		n = &counts.Writers
	}
	n.Add(1)
	return n
}

func leave(n *atomic.Int64) {
	if n != nil {
		n.Add(-1)
	}
}
