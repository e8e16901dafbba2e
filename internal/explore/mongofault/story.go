package mongofault

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/explore/site"
	"github.com/holdfast-db/holdfast/mongotest"
)

// answerOf returns a reply in words, and whether the client does not get it.
func answerOf(reply *mongotest.Reply) (words string, lost bool) {
	return wordsOf(reply), reply == nil || reply.Lost
}

func wordsOf(reply *mongotest.Reply) string {
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

// fates returns what the journal says about the messages.
func (s *Site) fates() map[site.Key]site.Fate {
	type fate struct{ applied, repeated, rolledBack bool }
	all := make(map[site.Key]fate)
	for _, e := range s.deployment.Journal() {
		key := site.Key{Conn: e.ConnID, Request: int64(e.RequestID)}
		f := all[key]
		f.applied, f.repeated, f.rolledBack = f.applied || e.Applied, f.repeated || e.Deduplicated, f.rolledBack || e.RolledBack
		all[key] = f
	}
	fates := make(map[site.Key]site.Fate, len(all))
	for key, f := range all {
		var words []string
		if f.repeated {
			words = append(words, "the server had done it before and did not do it again")
		}
		if f.rolledBack {
			words = append(words, "rolled back later")
		}
		fates[key] = site.Fate{Changed: f.applied && !f.rolledBack, Words: words}
	}
	return fates
}
