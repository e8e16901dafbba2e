package mongofault

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/internal/explore/site"
	"github.com/holdfast-db/holdfast/mongotest"
)

// intercept records a message of the program, and does the next strike of the case if it is for this message.
func (s *Site) intercept(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
	if !r.Application {
		return next(r)
	}
	who := fmt.Sprintf("member %d", r.Member)
	if r.Mongos >= 0 {
		who = fmt.Sprintf("mongos %d", r.Mongos)
	}
	a := s.Arrived(describe(r), who, site.Key{Conn: r.ConnID, Request: int64(r.RequestID)})
	if a == nil {
		return next(r)
	}
	if a.Failure == "" {
		return site.Pass(a, r, next, answerOf)
	}
	return s.strike(a, r, next)
}

// strike does the failure of a message.
func (s *Site) strike(a *site.Arrival, r *mongotest.Request, next mongotest.Handler) (reply *mongotest.Reply) {
	strike := &Strike{
		Deployment: s.deployment, Message: a.Message, Member: r.Member, Mongos: r.Mongos, Outage: s.pace.outage, Silence: s.pace.silence, site: s,
	}
	if strike.Member < 0 {
		strike.Member = s.deployment.Primary()
	}
	defer s.Panicked(a, func() { reply = &mongotest.Reply{Lost: true} })
	return site.Strike(a, r, next, s.failures[a.Failure].Apply(strike), answerOf, &strike.happening)
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
