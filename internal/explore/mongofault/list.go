package mongofault

import (
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/internal/explore/site"
	"github.com/holdfast-db/holdfast/mongotest"
)

// The failures of the network.
var (
	RequestLost = fault("request-lost", "the connection breaks before the server gets the request", nil, func(*Strike) mongotest.Fault {
		return mongotest.Fault{LoseRequest: true}
	})
	ReplyLost = fault("reply-lost", "the reply is lost after the server executed it", nil, func(*Strike) mongotest.Fault {
		return mongotest.Fault{LoseReply: true}
	})
	HalfReply = fault("half-reply", "the connection breaks in the middle of the reply", nil, func(*Strike) mongotest.Fault {
		return mongotest.Fault{LoseReply: true, CutReplyAfter: 20}
	})
	LateRequest = fault("late-request", "the connection breaks, and the network delivers the request after the program has ended", nil,
		func(s *Strike) mongotest.Fault {
			s.happening.Late = true
			return mongotest.Fault{Late: s.Healed()}
		})
	Silence = fault("silence", "the server executes it, and nothing comes back", nil, func(s *Strike) mongotest.Fault {
		return mongotest.Fault{After: func() { s.Wait(s.Silence) }, LoseReply: true}
	})
	PoolCleared = fault("pool-cleared", "all connections to the server break after it executed this", nil, func(s *Strike) mongotest.Fault {
		return mongotest.Fault{After: s.breakConnections, LoseReply: true}
	})
)

// The failures of members.
var (
	StepDownBefore = site.OfSeveral(fault("step-down-before", "the primary steps down before it executes this", nil, func(s *Strike) mongotest.Fault {
		return mongotest.Fault{Before: s.stepDown}
	}))
	StepDownAfter = site.OfSeveral(fault("step-down-after", "the primary steps down after it executed this", nil, func(s *Strike) mongotest.Fault {
		return mongotest.Fault{After: s.stepDown}
	}))
	KilledBefore = fault("killed-before", "the server is killed before it executes this", nil, func(s *Strike) mongotest.Fault {
		return mongotest.Fault{Before: s.kill}
	})
	KilledDuring = site.OfSeveral(fault("killed-during", "the primary is killed when it has applied this and no other member has it", isWrite,
		func(s *Strike) mongotest.Fault {
			s.happening.Missed = true
			return mongotest.Fault{AfterApply: s.kill}
		}))
	KilledAfter = fault("killed-after", "the server is killed after it executed this, and the reply is lost", nil, func(s *Strike) mongotest.Fault {
		return mongotest.Fault{After: s.kill, LoseReply: true}
	})
	Partitioned = site.OfSeveral(fault("partitioned", "the member is cut off from its clients and from the other members", nil, func(s *Strike) mongotest.Fault {
		return mongotest.Fault{Before: s.isolate}
	}))
)

// The failures of state that the server keeps for a client.
var (
	CursorLost = fault("cursor-lost", "the server has lost the cursor", func(m explore.Message) bool { return m.Cursor }, func(*Strike) mongotest.Fault {
		return mongotest.Fault{Error: &mongotest.CommandError{Code: 43, Message: "explore: cursor not found"}}
	})
	SessionExpired = Failure{
		Name: "session-expired", Title: "the server ends the session before it executes this: its transaction is aborted",
		Concerns: func(m explore.Message) bool { return m.Session && m.Transaction }, Apply: endSession,
	}
)

// Overload is an overloaded server, which asks the client to try again later.
var Overload = fault("overload", "the server is overloaded and refuses this", nil, func(*Strike) mongotest.Fault {
	return mongotest.Fault{Error: &mongotest.CommandError{
		Code: 462, Message: "explore: overloaded", Labels: []string{"SystemOverloadedError", "RetryableError", "NoWritesPerformed"},
	}}
})

// Refused returns the failure that the server refuses the message with an error code, with the labels of its version.
func Refused(code mongotest.Code) Failure {
	f := fault(fmt.Sprintf("error-%d", code), fmt.Sprintf("the server refuses this with error %d", code), nil, func(*Strike) mongotest.Fault {
		return mongotest.Fault{Error: &mongotest.CommandError{Code: code, Message: "explore: refused"}}
	})
	if slices.Contains(ofMembers, code) {
		return site.OfSeveral(f)
	}
	return f
}

// ofMembers are the codes that only a member of a replica set gives: it is no primary, or not yet a secondary.
var ofMembers = []mongotest.Code{134, 189, 10107, 13435, 13436}

// WriteConcernFailed returns the failure that the server executes the write, and then reports an error of its write concern.
func WriteConcernFailed(code mongotest.Code) Failure {
	return site.OfSeveral(Failure{
		Name: fmt.Sprintf("write-concern-%d", code), Title: fmt.Sprintf("the server executes this, and reports write concern error %d", code), Concerns: isWrite,
		Apply: func(s *Strike) mongotest.Middleware { return withWriteConcernError(s, code) },
	})
}

// retryable are the codes after which the specifications of retryable reads and writes try again.
var retryable = []mongotest.Code{6, 7, 89, 91, 134, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436}

// All returns every failure: those of the network, of members, of cursors and sessions, each retryable error code and one that is
// not (2, BadValue), a write conflict (112), write concern failures, and overload.
func All() []Failure {
	list := []Failure{
		RequestLost, ReplyLost, LateRequest, HalfReply, Silence, PoolCleared,
		StepDownBefore, StepDownAfter, KilledBefore, KilledDuring, KilledAfter, Partitioned,
		CursorLost, SessionExpired, Overload, WriteConcernFailed(64), WriteConcernFailed(91),
	}
	for _, code := range retryable {
		list = append(list, Refused(code))
	}
	return append(list, Refused(2), writeConflict)
}

// writeConflict is error 112, which a server gives in transactions only, and never when they end: a commit that is repeated has happened.
var writeConflict = func() Failure {
	f := Refused(112)
	f.Title = "another transaction has changed the document (error 112)"
	f.Concerns = func(m explore.Message) bool { return m.Transaction && !m.Write && m.Command != "abortTransaction" }
	return f
}()

func isWrite(m explore.Message) bool { return m.Write }

func (s *Strike) stepDown() { s.happening.Missed = s.Deployment.StepDown() != nil }

// breakConnections closes the connections of the server that has the message.
func (s *Strike) breakConnections() {
	if s.Mongos >= 0 {
		s.Deployment.DropMongosConnections(s.Mongos)
		return
	}
	s.Deployment.DropConnections(s.Member)
}

// endSession ends the session of the message on its member.
func endSession(s *Strike) mongotest.Middleware {
	return func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
		s.toMember(func() {
			_, err := s.Deployment.Command(s.Member, "admin", bson.D{{Key: "killSessions", Value: bson.A{r.LSID}}})
			s.happening.Missed = err != nil
		})
		return next(r)
	}
}

// withWriteConcernError puts an error of the write concern into the reply to a write that was executed. A server gives the label to
// retryable writes only.
func withWriteConcernError(s *Strike, code mongotest.Code) mongotest.Middleware {
	return func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
		retry := r.TxnNumber >= 0 && isRetryable(code)
		reply := next(r)
		var body bson.D
		if reply == nil || reply.Error != nil || bson.Unmarshal(reply.Body, &body) != nil {
			s.happening.Missed = true
			return reply
		}
		body = append(body, bson.E{Key: "writeConcernError", Value: writeConcernError(code)})
		if retry {
			body = append(body, bson.E{Key: "errorLabels", Value: bson.A{"RetryableWriteError"}})
		}
		return mongotest.NewReply(body)
	}
}

func writeConcernError(code mongotest.Code) bson.D {
	name, text := "", "explore: the write concern failed"
	switch code {
	case 64:
		name, text = "WriteConcernTimeout", "waiting for replication timed out"
	case 91:
		name, text = "ShutdownInProgress", "Replication is being shut down"
	}
	return bson.D{{Key: "code", Value: code}, {Key: "codeName", Value: name}, {Key: "errmsg", Value: text}}
}

func isRetryable(code mongotest.Code) bool { return slices.Contains(retryable, code) }
