package rules

import (
	"strings"

	"github.com/holdfast-db/holdfast/retry"
)

// membersOfARequest is how many members a read in a request tries.
const membersOfARequest = 3

// MayBeInRequest reports whether a request has rules of its own for the operation: for the reads that are retried and that have a read
// preference. The lists of databases, collections and indexes are always read from the primary.
func (o MongoOperation) MayBeInRequest() bool {
	return o.kind == mongoRead && o.listed && !strings.HasPrefix(o.Name, "list")
}

// inRequest reports whether the request chooses the member. Only on a replica set it does.
func (c *MongoCase) inRequest() bool {
	return c.InRequest && c.isSet() && c.Operation.MayBeInRequest() && !c.InTransaction
}

// moves reports whether a read in a request goes to another member after the failure.
func (c *MongoCase) moves() bool {
	if !c.inRequest() {
		return false
	}
	switch k := c.Failure.Kind; k {
	case MongoNetwork, MongoConnect, MongoPoolCleared:
		return true
	case MongoHandshake:
		return retryableCode(c.Failure.Code)
	case MongoReply, MongoWriteConcern, MongoWriteErrors, MongoNoServer, MongoCancelled:
		return false
	}
	return false
}

// move returns the verdict for a read that goes to another member.
func (c *MongoCase) move() Verdict {
	return Verdict{
		Rule: mongoRequest, Retried: true, Attempts: membersOfARequest, Where: WhereMember, Delay: DelayAtOnce, StopReason: retry.StopAttemptsUsed,
	}
}
