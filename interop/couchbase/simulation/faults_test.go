package simulation

import (
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/interop/internal/simlife"
)

// faultKind is a kind of fault. Exactly one of its functions is set.
type faultKind struct {
	name string
	// message makes the fault of one message.
	message func(i *injector, f *planned, r *couchbasetest.Request) couchbasetest.Middleware
	// onWrites means that only writes have such a fault.
	onWrites bool
	// cluster breaks the cluster and returns how to repair it. It is called while the cluster is whole.
	cluster func(i *injector, f *planned, node int) (repair func())
}

func faultKinds() []faultKind {
	return slices.Concat(messageFaults(), statusFaults(), disturbances(), nodeFaults(), mapFaults(), failovers())
}

func kindOfFault(name string) faultKind {
	kinds := faultKinds()
	return kinds[slices.IndexFunc(kinds, func(k faultKind) bool { return k.name == name })]
}

// always makes a kind of message fault out of a function that returns a couchbasetest.Fault.
func always(name string, fault func(f *planned) couchbasetest.Fault) faultKind {
	return faultKind{name: name, message: func(_ *injector, f *planned, _ *couchbasetest.Request) couchbasetest.Middleware {
		return couchbasetest.Always(fault(f))
	}}
}

func messageFaults() []faultKind {
	return []faultKind{
		always("request lost", func(*planned) couchbasetest.Fault { return couchbasetest.Fault{LoseRequest: true} }),
		always("reply lost", func(*planned) couchbasetest.Fault { return couchbasetest.Fault{LoseReply: true} }),
		always("half a reply", func(f *planned) couchbasetest.Fault {
			return couchbasetest.Fault{LoseReply: true, CutReplyAfter: 1 + f.choice%30}
		}),
		always("request silent", func(*planned) couchbasetest.Fault { return couchbasetest.Fault{LoseRequest: true, Silent: true} }),
		always("reply silent", func(*planned) couchbasetest.Fault { return couchbasetest.Fault{LoseReply: true, Silent: true} }),
		always("slow request", func(f *planned) couchbasetest.Fault { return couchbasetest.Fault{Delay: f.hold} }),
		always("slow reply", func(f *planned) couchbasetest.Fault { return couchbasetest.Fault{ReplyDelay: f.hold} }),
		changedReply("garbage", func(reply *couchbasetest.Reply) { reply.Garbage = []byte("HTTP/1.1 400 Bad Request\r\n\r\n") }),
		changedReply("unknown opaque", func(reply *couchbasetest.Reply) { reply.Opaque = 0xfffffff0 }),
	}
}

// changedReply executes the command and changes its reply.
func changedReply(name string, change func(*couchbasetest.Reply)) faultKind {
	return faultKind{name: name, message: func(*injector, *planned, *couchbasetest.Request) couchbasetest.Middleware {
		return func(r *couchbasetest.Request, next couchbasetest.Handler) *couchbasetest.Reply {
			reply := next(r)
			if reply != nil {
				change(reply)
			}
			return reply
		}
	}}
}

// unknownStatus is a status that only the error map explains: it says that the request may be sent again.
const unknownStatus couchbasetest.Status = 0x7ff1

func statusFaults() []faultKind {
	status := func(name string, statuses ...couchbasetest.Status) faultKind {
		return always(name, func(f *planned) couchbasetest.Fault {
			return couchbasetest.Fault{Status: statuses[f.choice%len(statuses)]}
		})
	}
	ofWrites := func(k faultKind) faultKind {
		k.onWrites = true
		return k
	}
	return []faultKind{
		status("temporary failure", memd.StatusTemporaryFailure),
		status("out of memory or busy", 0x82, 0x85),
		status("not my vbucket, without a map", memd.StatusNotMyVBucket),
		status("config only", memd.StatusConfigOnly),
		status("status of the error map", unknownStatus),
		status("internal error", 0x84),
		ofWrites(status("locked", memd.StatusLocked)),
		ofWrites(status("durable write in progress", memd.StatusSyncWriteInProgress, memd.StatusSyncWriteReCommit)),
		ofWrites(status("durability impossible", memd.StatusDurabilityImpossible)),
		ofWrites(status("ambiguous, not applied", memd.StatusSyncWriteAmbiguous)),
		ofWrites(always("ambiguous, applied", func(*planned) couchbasetest.Fault {
			return couchbasetest.Fault{StatusAfter: memd.StatusSyncWriteAmbiguous}
		})),
	}
}

// disturbance makes a kind of fault that strikes all messages of an opcode for a time, at one node or at all.
func disturbance(name string, op couchbasetest.Opcode, fault func(f *planned) couchbasetest.Fault) faultKind {
	return faultKind{name: name, message: func(i *injector, f *planned, r *couchbasetest.Request) couchbasetest.Middleware {
		node, x := r.Node, fault(f)
		everywhere := f.choice%2 == 0
		remove := i.server.Use(op, couchbasetest.While(func(r *couchbasetest.Request) bool { return everywhere || r.Node == node }, x))
		i.repairs.Later(min(f.hold, i.Scaled(5*time.Second)), remove)
		return couchbasetest.Always(couchbasetest.Fault{})
	}}
}

// disturbances happen to many messages, but the cluster stays whole.
func disturbances() []faultKind {
	status := func(s couchbasetest.Status) func(*planned) couchbasetest.Fault {
		return func(*planned) couchbasetest.Fault { return couchbasetest.Fault{Status: s} }
	}
	lost := func(*planned) couchbasetest.Fault { return couchbasetest.Fault{LoseRequest: true} }
	return []faultKind{
		disturbance("temporary failures for a while", couchbasetest.AnyOpcode, status(memd.StatusTemporaryFailure)),
		disturbance("config only for a while", couchbasetest.AnyOpcode, status(memd.StatusConfigOnly)),
		disturbance("not my vbucket for a while", couchbasetest.AnyOpcode, status(memd.StatusNotMyVBucket)),
		disturbance("slow for a while", couchbasetest.AnyOpcode, func(f *planned) couchbasetest.Fault {
			return couchbasetest.Fault{Delay: f.hold / 20, ReplyDelay: f.hold / 20}
		}),
		disturbance("connections closed", couchbasetest.AnyOpcode, lost),
		disturbance("maps not answered", memd.OpGetClusterConfig, lost),
		disturbance("handshakes lost", memd.OpHello, lost),
		disturbance("logins slow", memd.OpSASLAuth, func(f *planned) couchbasetest.Fault { return couchbasetest.Fault{Delay: f.hold / 4} }),
		disturbance("bucket not selected", memd.OpSelectBucket, status(memd.StatusTemporaryFailure)),
		disturbance("collections unknown", memd.OpCollectionID, status(memd.StatusTemporaryFailure)),
	}
}

// of makes a kind of fault of the cluster.
func of(name string, strike func(i *injector, f *planned, node int) (repair func())) faultKind {
	return faultKind{name: name, cluster: strike}
}

// nodeFaults stop nodes, or cut them off. The node is the one that got the message.
func nodeFaults() []faultKind {
	return []faultKind{
		of("node killed", func(i *injector, _ *planned, n int) func() {
			i.kill(n)
			return func() { i.server.Restart(n) }
		}),
		of("other node killed", func(i *injector, f *planned, n int) func() {
			n = i.other(f, n)
			i.kill(n)
			return func() { i.server.Restart(n) }
		}),
		of("node restarted", func(i *injector, _ *planned, n int) func() {
			i.kill(n)
			i.server.Restart(n)
			return func() {}
		}),
		of("all nodes killed", func(i *injector, _ *planned, _ int) func() {
			all := i.members()
			for _, n := range all {
				i.kill(n)
			}
			return func() {
				for _, n := range all {
					i.server.Restart(n)
				}
			}
		}),
		of("node paused", func(i *injector, _ *planned, n int) func() {
			i.server.Pause(n)
			return func() { i.server.Resume(n) }
		}),
		of("black hole", func(i *injector, _ *planned, n int) func() {
			i.server.BlackHole(n)
			return func() { i.server.Heal(n) }
		}),
		of("node isolated", func(i *injector, _ *planned, n int) func() {
			i.server.Isolate(n)
			return func() { i.server.Heal(n) }
		}),
		of("replicas lag", func(i *injector, f *planned, _ int) func() {
			i.server.SetReplicationLag(min(f.hold, i.Scaled(20*time.Second)) / 4)
			return func() { i.server.SetReplicationLag(i.lag) }
		}),
		of("disks lag", func(i *injector, f *planned, _ int) func() {
			i.server.SetPersistenceLag(min(f.hold, i.Scaled(20*time.Second)) / 4)
			return func() { i.server.SetPersistenceLag(i.saving) }
		}),
	}
}

// mapFaults change the map, or what clients learn of it.
func mapFaults() []faultKind {
	return []faultKind{
		of("new version of the map", func(i *injector, _ *planned, _ int) func() {
			i.server.PublishMap(bucketName)
			return func() {}
		}),
		of("rebalance", func(i *injector, f *planned, n int) func() {
			if len(i.members()) > i.nodes() {
				return func() { i.rebalance(f, n) }
			}
			_, err := i.server.AddNode()
			i.must("AddNode", err)
			return func() { i.rebalance(f) }
		}),
		of("rebalance that swaps nodes", func(i *injector, f *planned, n int) func() {
			_, err := i.server.AddNode()
			i.must("AddNode", err)
			return func() { i.rebalance(f, n) }
		}),
		of("rebalance that stops", func(i *injector, f *planned, n int) func() { return i.stopped(f, n, func() {}) }),
		of("rebalance in which a node dies", func(i *injector, f *planned, n int) func() {
			return i.stopped(f, n, func() { i.kill(n) })
		}),
		of("maps not pushed", func(i *injector, f *planned, _ int) func() {
			i.server.SetPushes(false)
			return func() {
				i.swap(f)
				i.server.SetPushes(true)
			}
		}),
		of("refusals without a map", func(i *injector, f *planned, _ int) func() {
			i.server.SetBareRefusals(true)
			i.server.SetPushes(false)
			return func() {
				i.swap(f)
				i.server.SetBareRefusals(false)
				i.server.SetPushes(true)
			}
		}),
		of("old map held", func(i *injector, f *planned, n int) func() {
			i.server.HoldMaps(n)
			return func() {
				i.swap(f)
				simlife.Pause(f.hold / 2)
				i.server.ReleaseMaps(n)
			}
		}),
	}
}

// swap replaces a member by a new node.
func (i *injector) swap(f *planned) {
	_, err := i.server.AddNode()
	i.must("AddNode", err)
	list := i.members()
	i.rebalance(f, list[f.choice%(len(list)-1)])
}

// stopped begins a rebalance that takes a node out, and stops it after some moves. To repair is to make a whole one.
func (i *injector) stopped(f *planned, node int, then func()) func() {
	_, err := i.server.AddNode()
	i.must("AddNode", err)
	return func() {
		r, err := i.server.StartRebalance(node)
		i.must("StartRebalance", err)
		if err != nil {
			return
		}
		for range f.choice % (i.vbuckets / 2) {
			r.Move()
			simlife.Pause(2 * time.Millisecond)
		}
		then()
		if r.Move(); true {
			r.Stop()
		}
		simlife.Pause(f.hold / 2)
		i.server.Restart(node)
		i.rebalance(f, node)
	}
}

// failovers take a node out of the cluster; to repair is to bring it back.
func failovers() []faultKind {
	return []faultKind{
		of("soft failover", func(i *injector, f *planned, n int) func() {
			i.must("GracefulFailover", i.server.GracefulFailover(n))
			return func() { i.back(f, n) }
		}),
		of("hard failover", func(i *injector, f *planned, n int) func() {
			i.failover(n)
			return func() { i.back(f, n) }
		}),
		of("hard failover while replicas lag", func(i *injector, f *planned, n int) func() {
			i.server.SetReplicationLag(f.hold / 2)
			return func() {
				i.failover(n)
				i.server.SetReplicationLag(i.lag)
				simlife.Pause(f.hold / 2)
				i.back(f, n)
			}
		}),
		of("killed node failed over", func(i *injector, f *planned, n int) func() {
			i.kill(n)
			return i.failedOver(f, n, func() { i.server.Restart(n) })
		}),
		of("isolated node failed over", func(i *injector, f *planned, n int) func() {
			i.server.Isolate(n)
			return i.failedOver(f, n, func() { i.server.Heal(n) })
		}),
		of("silent node failed over", func(i *injector, f *planned, n int) func() {
			i.server.BlackHole(n)
			return i.failedOver(f, n, func() { i.server.Heal(n) })
		}),
		of("paused node failed over", func(i *injector, f *planned, n int) func() {
			i.server.Pause(n)
			return i.failedOver(f, n, func() { i.server.Resume(n) })
		}),
	}
}

// failedOver takes a node that is broken out of the cluster, repairs it after a while, and brings it back.
func (i *injector) failedOver(f *planned, node int, repair func()) func() {
	return func() {
		i.failover(node)
		simlife.Pause(f.hold / 2)
		repair()
		i.back(f, node)
	}
}
