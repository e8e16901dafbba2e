package mongofault

import (
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/mongotest"
)

// arrival is one message of the program.
type arrival struct {
	explore.Message
	at        time.Time
	member    int
	mongos    int
	connID    int64
	requestID int32
	failure   string // the failure that happened to it
	words     string // what became of it
	lost      bool   // the request or the reply was lost
}

// intercept records a message of the program, and does the next strike of the case if it is for this message.
func (s *Site) intercept(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
	if !r.Application {
		return next(r)
	}
	a, failure := s.arrived(r)
	if a == nil {
		return next(r)
	}
	defer s.ended()
	if failure == nil {
		return s.watch(a, r, next)
	}
	strike := &Strike{
		Deployment: s.deployment, Message: a.Message, Member: a.member, Outage: s.pace.outage, Silence: s.pace.silence, site: s,
	}
	if strike.Member < 0 {
		strike.Member = s.deployment.Primary()
	}
	reply := s.apply(strike, failure, a, r, next)
	s.mu.Lock()
	defer s.mu.Unlock()
	if strike.missed {
		s.struck = slices.DeleteFunc(s.struck, func(at int) bool { return s.arrivals[at] == a })
		a.failure = ""
	}
	return reply
}

// apply does the failure to the message.
func (s *Site) apply(strike *Strike, f *Failure, a *arrival, r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
	middleware := f.Apply(strike)
	if middleware == nil {
		strike.missed = true
		return s.watch(a, r, next)
	}
	executed := false
	reply := middleware(r, func(r *mongotest.Request) *mongotest.Reply {
		executed = true
		return s.watch(a, r, next)
	})
	s.tell(a, executed, reply)
	return reply
}

// watch executes the message, and notes the server's answer.
func (s *Site) watch(a *arrival, r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
	reply := next(r)
	words := answerOf(reply)
	s.mu.Lock()
	defer s.mu.Unlock()
	a.words, a.lost = words, reply == nil || reply.Lost
	return reply
}

// arrived records a message, and returns the failure that happens to it, nil if none does. It returns no arrival if the failures are
// over.
func (s *Site) arrived(r *mongotest.Request) (*arrival, *Failure) {
	m := describe(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isOver {
		return nil, nil
	}
	s.running++
	name := m.Command + "/" + m.Target
	s.seen[name]++
	m.Ordinal = s.seen[name]
	a := &arrival{Message: m, at: time.Now(), member: r.Member, mongos: r.Mongos, connID: r.ConnID, requestID: r.RequestID}
	s.arrivals = append(s.arrivals, a)
	if s.begun == len(s.strikes) || !s.strikes[s.begun].Message.Same(m) {
		return a, nil
	}
	a.failure = s.strikes[s.begun].Failure
	s.begun++
	s.struck = append(s.struck, len(s.arrivals)-1)
	return a, s.failures[a.failure]
}

// describe returns what a message does.
func describe(r *mongotest.Request) explore.Message {
	inTransaction := false
	if v, err := r.Body.LookupErr("autocommit"); err == nil {
		auto, _ := v.BooleanOK()
		inTransaction = !auto
	}
	return explore.Message{
		Command: r.Command, Target: targetOf(r), Session: r.LSID != nil, Transaction: inTransaction, Cursor: r.Command == "getMore",
		Write: r.Command == "commitTransaction" || !inTransaction && writes[strings.ToLower(r.Command)],
	}
}

// writes are the commands that change documents, in lower case.
var writes = map[string]bool{"insert": true, "update": true, "delete": true, "findandmodify": true, "bulkwrite": true}

// targetOf returns the namespace that a message concerns, or its database if it concerns no collection.
func targetOf(r *mongotest.Request) string {
	name := r.Command
	switch name {
	case "getMore":
		name = "collection"
	case "bulkWrite":
		ns, _ := r.Body.Lookup("nsInfo", "0", "ns").StringValueOK()
		return ns
	}
	if v, err := r.Body.LookupErr(name); err == nil && v.Type == bson.TypeString {
		return r.Database + "." + v.StringValue()
	}
	return r.Database
}
