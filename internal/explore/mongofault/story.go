package mongofault

import (
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/mongotest"
)

// answerOf returns a reply in words.
func answerOf(reply *mongotest.Reply) string {
	switch {
	case reply == nil:
		return "the connection ended while it was executed"
	case reply.Error != nil:
		return reply.Error.Error()
	}
	var answer struct {
		OK          float64 `bson:"ok"`
		Code        int32   `bson:"code"`
		Errmsg      string  `bson:"errmsg"`
		N           *int32  `bson:"n"`
		WriteErrors []struct {
			Code   int32  `bson:"code"`
			Errmsg string `bson:"errmsg"`
		} `bson:"writeErrors"`
		WriteConcernError *struct {
			Code int32 `bson:"code"`
		} `bson:"writeConcernError"`
	}
	if bson.Unmarshal(reply.Body, &answer) != nil {
		return "answered"
	}
	switch {
	case answer.OK != 1:
		return fmt.Sprintf("error %d: %s", answer.Code, answer.Errmsg)
	case len(answer.WriteErrors) > 0:
		return fmt.Sprintf("write error %d: %s", answer.WriteErrors[0].Code, answer.WriteErrors[0].Errmsg)
	case answer.WriteConcernError != nil:
		return fmt.Sprintf("executed, write concern error %d", answer.WriteConcernError.Code)
	case answer.N != nil:
		return fmt.Sprintf("executed, n %d", *answer.N)
	}
	return "executed"
}

// tell notes what became of a message that met a failure.
func (s *Site) tell(a *arrival, executed bool, reply *mongotest.Reply) {
	final := answerOf(reply)
	s.mu.Lock()
	defer s.mu.Unlock()
	a.lost = reply == nil || reply.Lost
	switch {
	case !executed && a.lost:
		a.words = "not executed, no reply"
	case !executed:
		a.words = "not executed, " + final
	case a.lost:
		a.words += ", the reply was lost"
	default:
		a.words = final
	}
}

// Note adds a line about the program or the cluster to what happened.
func (s *Site) Note(who, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, explore.Event{At: time.Since(s.began), Who: who, Words: fmt.Sprintf(format, args...)})
}

// fate is what the journal says about a message.
type fate struct{ applied, repeated, rolledBack bool }

// fates returns what the journal says, by connection and request.
func (s *Site) fates() map[[2]int64]fate {
	all := make(map[[2]int64]fate)
	for _, e := range s.deployment.Journal() {
		key := [2]int64{e.ConnID, int64(e.RequestID)}
		f := all[key]
		f.applied, f.repeated, f.rolledBack = f.applied || e.Applied, f.repeated || e.Deduplicated, f.rolledBack || e.RolledBack
		all[key] = f
	}
	return all
}

// event returns the line about a message.
func (s *Site) event(a *arrival, f fate) explore.Event {
	words := []string{a.words}
	if a.words == "" {
		words[0] = "not answered yet"
	}
	if f.repeated {
		words = append(words, "the server had done it before and did not do it again")
	}
	if f.rolledBack {
		words = append(words, "rolled back later")
	}
	who := fmt.Sprintf("member %d", a.member)
	if a.mongos >= 0 {
		who = fmt.Sprintf("mongos %d", a.mongos)
	}
	m := a.Message
	return explore.Event{
		At: a.at.Sub(s.began), Who: who, Message: &m, Words: strings.Join(words, "; "), Struck: a.failure != "", Lost: a.lost,
		Changed: f.applied && !f.rolledBack,
	}
}
