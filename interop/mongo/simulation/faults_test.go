package simulation

import (
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/mongotest"
)

// faultKind is a kind of fault. Exactly one of its functions is set.
type faultKind struct {
	name string
	// message makes the fault of one message. It returns nil if this fault cannot happen to the message.
	message func(i *injector, f *planned, r *mongotest.Request) mongotest.Middleware
	// cluster breaks the cluster and returns how to repair it. It is called while the cluster is whole.
	cluster func(i *injector, f *planned, member int) (repair func())
}

// faultKinds returns the kinds of faults of a life.
func (s settings) faultKinds() []faultKind {
	kinds := slices.Concat(messageFaults(), serverFaults(), clusterFaults())
	if s.routers > 0 {
		kinds = append(kinds, routerFaults()...)
	}
	return kinds
}

func (s settings) kindOfFault(name string) faultKind {
	kinds := s.faultKinds()
	return kinds[slices.IndexFunc(kinds, func(k faultKind) bool { return k.name == name })]
}

func isSilent(kind string) bool { return kind == "request silent" || kind == "reply silent" }

// always makes a kind of message fault out of a function that returns a mongotest.Fault.
func always(name string, fault func(f *planned) mongotest.Fault) faultKind {
	return faultKind{name: name, message: func(_ *injector, f *planned, r *mongotest.Request) mongotest.Middleware {
		if isSilent(f.kind) && r.Command == "abortTransaction" { // it may have no deadline
			return nil
		}
		x := fault(f)
		return mongotest.Decide(func(*mongotest.Request) mongotest.Fault { return x })
	}}
}

func messageFaults() []faultKind {
	return []faultKind{
		always("request lost", func(*planned) mongotest.Fault { return mongotest.Fault{LoseRequest: true} }),
		always("reply lost", func(*planned) mongotest.Fault { return mongotest.Fault{LoseReply: true} }),
		always("reply cut", func(f *planned) mongotest.Fault {
			return mongotest.Fault{LoseReply: true, CutReplyAfter: 1 + f.choice%60}
		}),
		always("request silent", func(*planned) mongotest.Fault { return mongotest.Fault{LoseRequest: true, Silent: true} }),
		always("reply silent", func(*planned) mongotest.Fault { return mongotest.Fault{LoseReply: true, Silent: true} }),
		always("delay", func(f *planned) mongotest.Fault { return mongotest.Fault{Delay: f.hold} }),
		always("error", func(f *planned) mongotest.Fault { return mongotest.Fault{Error: pick(f, 13, 121, 8000)} }),
		always("retryable error", func(f *planned) mongotest.Fault {
			return mongotest.Fault{Error: pick(f, 6, 7, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13436)}
		}),
		always("overload", func(*planned) mongotest.Fault {
			return mongotest.Fault{Error: &mongotest.CommandError{
				Code: 462, Name: "IngressRequestRateLimitExceeded", Message: "the server rejects requests, to protect itself",
				Labels: []string{"SystemOverloadedError", "RetryableError"},
			}}
		}),
		{name: "garbage", message: func(*injector, *planned, *mongotest.Request) mongotest.Middleware {
			return changedReply(func(reply *mongotest.Reply, _ *mongotest.Request) {
				reply.Garbage = []byte("HTTP/1.1 400 Bad Request\r\n\r\n")
			})
		}},
		{name: "wrong responseTo", message: func(*injector, *planned, *mongotest.Request) mongotest.Middleware {
			return changedReply(func(reply *mongotest.Reply, r *mongotest.Request) { reply.ResponseTo = r.RequestID + 1<<20 })
		}},
	}
}

// pick returns the error of one of some codes.
func pick(f *planned, codes ...int32) *mongotest.CommandError {
	return &mongotest.CommandError{Code: codes[f.choice%len(codes)], Message: "a fault of the simulation"}
}

// changedReply executes the command and changes its reply.
func changedReply(change func(*mongotest.Reply, *mongotest.Request)) mongotest.Middleware {
	return func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
		reply := next(r)
		if reply != nil {
			change(reply, r)
		}
		return reply
	}
}

// failPoint makes a kind of fault out of a fail point of the member that gets the message.
func failPoint(name string, point func(f *planned) mongotest.FailPoint) faultKind {
	return faultKind{name: name, message: func(i *injector, f *planned, r *mongotest.Request) mongotest.Middleware {
		if err := i.rs.SetFailPoint(r.Member, point(f)); err != nil {
			i.history.violated("simulation", "%s: %v", name, err)
		}
		return mongotest.Always(mongotest.Fault{})
	}}
}

// disturbance makes a kind of fault that strikes all messages of a command for a time, at one member or at all.
func disturbance(name, command string, fault func(f *planned) mongotest.Fault) faultKind {
	return faultKind{name: name, message: func(i *injector, f *planned, r *mongotest.Request) mongotest.Middleware {
		member, x := r.Member, fault(f)
		everywhere := f.choice%2 == 0
		remove := i.rs.Use(command, mongotest.While(func(r *mongotest.Request) bool { return everywhere || r.Member == member }, x))
		i.repairs.Later(min(f.hold, i.Scaled(5*time.Second)), remove)
		return mongotest.Always(mongotest.Fault{})
	}}
}

// serverFaults happen to more than one message, but the cluster stays whole.
func serverFaults() []faultKind {
	writes := []string{"insert", "update", "delete", "findAndModify", "bulkWrite", "commitTransaction"}
	return []faultKind{
		failPoint("write concern error", func(f *planned) mongotest.FailPoint {
			return mongotest.FailPoint{Commands: writes, Times: f.times, WriteConcernError: pick(f, 91, 64, 11602, 100)}
		}),
		failPoint("connection closed after a write", func(f *planned) mongotest.FailPoint {
			return mongotest.FailPoint{Name: mongotest.FailWrite, Times: f.times}
		}),
		failPoint("write undone with an error", func(f *planned) mongotest.FailPoint {
			return mongotest.FailPoint{Name: mongotest.FailWrite, Times: f.times, ErrorCode: pick(f, 91, 112, 11602).Code}
		}),
		failPoint("cursor lost", func(f *planned) mongotest.FailPoint {
			return mongotest.FailPoint{Name: mongotest.FailGetMore, Times: f.times, ErrorCode: pick(f, 43, 11602, 6).Code}
		}),
		disturbance("slow hello", "hello", func(f *planned) mongotest.Fault { return mongotest.Fault{Delay: f.hold} }),
		disturbance("hello lost", "hello", func(*planned) mongotest.Fault { return mongotest.Fault{LoseRequest: true} }),
		disturbance("hello refused", "hello", func(f *planned) mongotest.Fault { return mongotest.Fault{Error: pick(f, 91, 11600)} }),
		disturbance("connections closed", mongotest.AnyCommand, func(*planned) mongotest.Fault {
			return mongotest.Fault{LoseRequest: true}
		}),
		disturbance("overload of all", mongotest.AnyCommand, func(*planned) mongotest.Fault {
			return mongotest.Fault{Error: &mongotest.CommandError{
				Code: 462, Message: "the server rejects requests, to protect itself", Labels: []string{"SystemOverloadedError", "RetryableError"},
			}}
		}),
	}
}

// clusterFaults break the cluster, one at a time. The member is the one that got the message.
func clusterFaults() []faultKind {
	of := func(name string, strike func(i *injector, f *planned, member int) func()) faultKind {
		return faultKind{name: name, cluster: strike}
	}
	other := func(i *injector, f *planned, m int) int {
		return (m + 1 + f.choice%(i.rs.Members()-1)) % i.rs.Members()
	}
	return []faultKind{
		of("member killed", func(i *injector, _ *planned, m int) func() {
			i.rs.Kill(m)
			return func() { i.rs.Restart(m) }
		}),
		of("other member killed", func(i *injector, f *planned, m int) func() {
			m = other(i, f, m)
			i.rs.Kill(m)
			return func() { i.rs.Restart(m) }
		}),
		of("member restarted", func(i *injector, _ *planned, m int) func() {
			i.rs.Kill(m)
			i.rs.Restart(m)
			return func() {}
		}),
		of("all members killed", func(i *injector, _ *planned, _ int) func() {
			for m := range i.rs.Members() {
				i.rs.Kill(m)
			}
			return func() {
				for m := range i.rs.Members() {
					i.rs.Restart(m)
				}
			}
		}),
		of("step-down", func(i *injector, _ *planned, _ int) func() {
			_ = i.rs.StepDown() // an election may be under way
			return func() {}
		}),
		of("member isolated", func(i *injector, _ *planned, m int) func() {
			i.rs.Isolate(m)
			return i.rs.Heal
		}),
		of("other member isolated", func(i *injector, f *planned, m int) func() {
			i.rs.Isolate(other(i, f, m))
			return i.rs.Heal
		}),
		of("partition", func(i *injector, _ *planned, m int) func() {
			i.rs.Partition([]int{m})
			return i.rs.Heal
		}),
		of("one-way partition", func(i *injector, f *planned, m int) func() {
			i.rs.PartitionOneWay(m, other(i, f, m))
			return i.rs.Heal
		}),
		of("lag", func(i *injector, f *planned, m int) func() {
			m = other(i, f, m)
			i.rs.SetLag(m, f.hold/2)
			return func() { i.rs.SetLag(m, 0) }
		}),
	}
}
