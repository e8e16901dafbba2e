package couchbasefault

import (
	"fmt"
	"slices"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/internal/explore/site"
)

// The failures of the network.
var (
	RequestLost = fault("request-lost", "the connection breaks before the node gets the request", nil, func(*Strike) couchbasetest.Fault {
		return couchbasetest.Fault{LoseRequest: true}
	})
	ReplyLost = fault("reply-lost", "the reply is lost after the node executed it", nil, func(*Strike) couchbasetest.Fault {
		return couchbasetest.Fault{LoseReply: true}
	})
	HalfReply = fault("half-reply", "the connection breaks in the middle of the reply", nil, func(*Strike) couchbasetest.Fault {
		return couchbasetest.Fault{LoseReply: true, CutReplyAfter: 20}
	})
	LateRequest = fault("late-request", "the connection breaks, and the network delivers the request after the program has ended", nil,
		func(s *Strike) couchbasetest.Fault {
			s.happening.Late = true
			return couchbasetest.Fault{Late: s.Healed()}
		})
	Silence = fault("silence", "the node executes it, and nothing comes back", nil, func(s *Strike) couchbasetest.Fault {
		return couchbasetest.Fault{After: func() { s.Wait(s.Silence) }, LoseReply: true}
	})
)

// The failures of nodes.
var (
	KilledBefore = fault("killed-before", "the node is killed before it executes this", nil, func(s *Strike) couchbasetest.Fault {
		return couchbasetest.Fault{Before: s.kill, LoseRequest: true}
	})
	KilledAfter = fault("killed-after", "the node is killed after it executed this, and the reply is lost", nil, func(s *Strike) couchbasetest.Fault {
		return couchbasetest.Fault{After: s.kill, LoseReply: true}
	})
	Paused = fault("paused", "the node's process stops, and executes this when it continues", nil, func(s *Strike) couchbasetest.Fault {
		return couchbasetest.Fault{Before: s.pause}
	})
	BlackHole = fault("black-hole", "the node executes this, and is cut off from its clients without an error", nil, func(s *Strike) couchbasetest.Fault {
		return couchbasetest.Fault{Before: s.blackHole}
	})
	Isolated = site.OfSeveral(fault("isolated", "the node is cut off from the other nodes before it executes this", isWrite, func(s *Strike) couchbasetest.Fault {
		return couchbasetest.Fault{Before: s.isolate}
	}))
	FailedOverBefore = site.OfSeveral(fault("failed-over-before", "the node is failed over before it executes this", nil, func(s *Strike) couchbasetest.Fault {
		return couchbasetest.Fault{Before: s.failOver}
	}))
	FailedOverAfter = site.OfSeveral(fault("failed-over-after", "the node is failed over after it executed this, and the replicas have it", nil,
		func(s *Strike) couchbasetest.Fault { return couchbasetest.Fault{After: s.failOver} }))
	WriteLost = site.OfSeveral(fault("write-lost", "the node executes this, and is failed over before a replica has it", isUnsafe, func(s *Strike) couchbasetest.Fault {
		return couchbasetest.Fault{Before: s.isolate, After: s.failOver}
	}))
	MovedBefore = fault("moved-before", "a rebalance moves the document to another node before this is executed", isActive, func(s *Strike) couchbasetest.Fault {
		return couchbasetest.Fault{Before: s.move}
	})
	MovedAfter = fault("moved-after", "a rebalance moves the document to another node after this was executed", isActive, func(s *Strike) couchbasetest.Fault {
		return couchbasetest.Fault{After: s.move}
	})
)

// The failures of durable writes.
var (
	AmbiguousBefore = fault("ambiguous-before", "the outcome of the durable write is unknown (0xa3), and it was not executed", isDurable,
		func(*Strike) couchbasetest.Fault {
			return couchbasetest.Fault{Status: memd.StatusSyncWriteAmbiguous}
		})
	AmbiguousAfter = fault("ambiguous-after", "the outcome of the durable write is unknown (0xa3), and it was executed", isDurable,
		func(*Strike) couchbasetest.Fault {
			return couchbasetest.Fault{StatusAfter: memd.StatusSyncWriteAmbiguous}
		})
)

// isUnsafe reports whether a write is answered before a replica has it.
func isUnsafe(m explore.Message) bool { return m.Write && !m.Durable }

// isActive reports whether a message goes to the node with the active copy of a document.
func isActive(m explore.Message) bool { return m.Document && m.Command != nameOf(memd.OpGetReplica) }

// Refused returns the failure that the node refuses the message with a status. It concerns the messages that a node can answer so.
func Refused(status couchbasetest.Status) Failure {
	return fault(fmt.Sprintf("status-%02x", uint16(status)), fmt.Sprintf("the node refuses this: %v", status), answeredWith[status], func(*Strike) couchbasetest.Fault {
		return couchbasetest.Fault{Status: status}
	})
}

// answeredWith has which messages a node can answer with a status, as far as it depends on the message.
var answeredWith = map[couchbasetest.Status]func(explore.Message) bool{
	memd.StatusDurabilityImpossible: isDurable,
	memd.StatusSyncWriteAmbiguous:   isDurable,
	memd.StatusSyncWriteInProgress:  isWrite,
	memd.StatusSyncWriteReCommit:    isWrite,
	memd.StatusLocked:               func(m explore.Message) bool { return m.Write || m.Command == nameOf(memd.OpGetLocked) },
	memd.StatusUnknownCollection:    isDocument,
	memd.StatusNotMyVBucket:         isDocument,
}

// Unknown is a status that no client knows, and that no node's error map explains.
const Unknown couchbasetest.Status = 0xff42

// refusals are the statuses after which clients may or must not try again.
var refusals = []couchbasetest.Status{
	memd.StatusTemporaryFailure, memd.StatusBusy, memd.StatusOutOfMemory, memd.StatusLocked, memd.StatusNotMyVBucket, memd.StatusUnknownCollection,
	memd.StatusSyncWriteInProgress, memd.StatusSyncWriteReCommit, memd.StatusDurabilityImpossible, memd.StatusAccess, Unknown,
}

// All returns every failure but WriteLost, which a program accepts that writes without durability.
func All() []Failure {
	list := []Failure{
		RequestLost, ReplyLost, LateRequest, HalfReply, Silence,
		KilledBefore, KilledAfter, Paused, BlackHole, Isolated, FailedOverBefore, FailedOverAfter, MovedBefore, MovedAfter,
		AmbiguousBefore, AmbiguousAfter,
	}
	list = slices.Grow(list, len(refusals))
	for _, status := range refusals {
		list = append(list, Refused(status))
	}
	return list
}
