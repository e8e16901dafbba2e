package router

import (
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// With a file of users all commands run as the router's own user, so the members cannot keep apart what belongs to whom.

// ofOthers are the commands that show or end what belongs to others.
var ofOthers = []string{"currentOp", "killOp", "killSessions", "killAllSessions", "killAllSessionsByPattern"}

// stagesOfOthers are the first stages of aggregations that do.
var stagesOfOthers = []string{"$currentOp", "$listSessions", "$listLocalSessions"}

// checkMark refuses a command of a user of a file that shows or ends what belongs to others, without the mark for it.
func (c *client) checkMark(q *command) *refusal {
	if c.account == nil || c.account.user != nil || c.account.operator {
		return nil
	}
	switch {
	case slices.Contains(ofOthers, q.Name), q.Name == "aggregate" && slices.Contains(stagesOfOthers, firstStage(q.Body)):
	case q.Name == "getMore" && c.router.cursors.isOfAnother(c.account.id, q.cursor):
	case q.Name == "killCursors" && c.router.cursors.isOfAnother(c.account.id, cursorIDs(q.Body)...):
	default:
		return nil
	}
	return &refusal{code: codeUnauthorized, name: "Unauthorized", text: c.account.String() +
		" may not see or end what belongs to other users: the router's file has not the mark operator for it"}
}

// firstStage returns the name of the first stage of an aggregation, "" if there is none.
func firstStage(body []byte) string {
	pipeline := field(body, "pipeline")
	stages := wire.Elements(pipeline.Array())
	if !stages.Next() {
		return ""
	}
	stage := wire.Elements(stages.Document())
	stage.Next()
	return string(stage.Key)
}

// isOfAnother reports whether one of the cursors is known to be that of another user.
func (c *cursors) isOfAnother(user id, cursors ...int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(cursors, func(cursor int64) bool {
		p, known := c.places[cursor]
		return known && p.owner != user
	})
}
