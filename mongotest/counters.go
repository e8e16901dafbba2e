package mongotest

import (
	"sync/atomic"

	"github.com/holdfast-db/holdfast/mongotest/internal/call"
)

// Counters are what servers have counted since the set began to run, whether they were killed meanwhile or not.
type Counters struct {
	// Commands are the messages received, by the command's name as clients wrote it, older names apart. A stream of hellos is one
	// message, and what Command and the like do is none.
	Commands map[string]int64
	// Opened are the connections that were accepted, and Current those that are open.
	Opened, Current int64
}

// Counters returns what the given members have counted, all servers together if none is given.
func (rs *Deployment) Counters(members ...int) Counters {
	asked := make([]*call.Member, len(members))
	for i, n := range members {
		asked[i] = orPanic(rs.memberAt("Counters", n))
	}
	rs.set.Lock()
	defer rs.set.Unlock()
	var servers []*server
	for _, m := range asked {
		servers = append(servers, rs.serverOf(m))
	}
	total := Counters{Commands: make(map[string]int64)}
	add := func(m *server) {
		for _, s := range call.Specs {
			if n := m.received[s.Index].Load(); n > 0 {
				total.Commands[s.Name] += n
			}
		}
		for name, n := range m.unknown {
			total.Commands[name] += n
		}
		total.Opened += m.opened
		total.Current += int64(len(m.conns))
	}
	if len(members) == 0 {
		servers = rs.servers
	}
	for _, s := range servers {
		add(s)
	}
	return total
}

// tally counts the messages that a server receives.
type tally struct {
	received []atomic.Int64   // by the index of the command
	unknown  map[string]int64 // by name; guarded by the set's mutex
	opened   int64            // connections; guarded by the set's mutex
}

func newTally() tally {
	return tally{received: make([]atomic.Int64, len(call.Specs)), unknown: make(map[string]int64)}
}

// countMessage counts the current message.
func (x *exec) countMessage() {
	if x.Command.Spec != nil {
		x.conn.server.received[x.Command.Spec.Index].Add(1)
		return
	}
	call.WithLock(&x.Call, func(call.Locked) int64 {
		x.conn.server.unknown[x.Command.Name]++
		return x.conn.server.unknown[x.Command.Name]
	})
}
