package router

import (
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// With a file of users all commands run as the router's own user, so the members cannot keep apart what belongs to whom.

// ofOthers are the commands that show or end what belongs to others.
var ofOthers = []string{"currentOp", "killOp", "killSessions", "killAllSessions", "killAllSessionsByPattern", "getLog", "lockInfo"}

// stagesOfOthers are the stages of aggregations that do.
var stagesOfOthers = []string{"$currentOp", "$listSessions", "$listLocalSessions"}

// withStages are the commands that may have stages: of an aggregation, or of a view.
var withStages = []string{"aggregate", "explain", "create", "collMod"}

const (
	// configDatabase has the sessions and transactions of all.
	configDatabase = "config"
	// profileCollection has the operations of all.
	profileCollection = "system.profile"
	// deepest is how deep documents may be in each other: servers refuse more.
	deepest = 200
)

// checkMark refuses a command of a user of a file that shows or ends what belongs to others, without the mark for it.
func (c *client) checkMark(q *command) *refusal {
	if c.account == nil || c.account.user != nil || c.account.operator {
		return nil
	}
	switch {
	case slices.Contains(ofOthers, q.Name), q.Database == configDatabase, string(collectionOf(q)) == profileCollection:
	case slices.Contains(withStages, q.Name) && mentions(q.Body, stagesOfOthers, 0):
	case q.Name == "getMore" && c.router.cursors.isOfAnother(c.account.id, q.cursor):
	case q.Name == "killCursors" && c.router.cursors.isOfAnother(c.account.id, cursorIDs(q.Body)...):
	default:
		return nil
	}
	return &refusal{code: codeUnauthorized, name: "Unauthorized", text: c.account.String() +
		" may not see or end what belongs to other users: the router's file has not the mark operator for it"}
}

// mentions reports whether a field has one of some names, however deep it is: stages have pipelines in them. What cannot be read counts as if it had.
func mentions(document []byte, names []string, depth int) bool {
	if depth > deepest {
		return true
	}
	it := wire.Elements(document)
	for it.Next() {
		inner := it.Document()
		if inner == nil {
			inner = it.Array()
		}
		if slices.Contains(names, string(it.Key)) || inner != nil && mentions(inner, names, depth+1) {
			return true
		}
	}
	return it.Err != nil
}

// isOfAnother reports whether one of the cursors is known to be that of another user.
func (c *cursors) isOfAnother(user id, cursors ...int64) bool {
	return slices.ContainsFunc(cursors, func(cursor int64) bool {
		p, known := c.get(cursor)
		return known && p.owner != user
	})
}
