package rules

import "github.com/holdfast-db/holdfast/retry"

// labelled reports whether a reply to a write has the label RetryableWriteError, or gets it from the client.
func (c *MongoCase) labelled() bool {
	if c.Operation.kind != mongoWrite && c.Operation.kind != mongoEnd {
		return false
	}
	return c.Failure.has(labelRetryableWrite) || c.ServerLabels() || c.clientLabels()
}

// ServerLabels reports whether a server from 4.4 on adds the label RetryableWriteError to the reply: the write has a transaction number and
// the code is retryable.
func (c *MongoCase) ServerLabels() bool {
	stop, _ := c.refusal()
	writes := c.Operation.kind == mongoWrite || c.Operation.kind == mongoEnd
	replied := c.Failure.Kind == MongoReply || c.Failure.Kind == MongoWriteConcern
	return !c.Before44 && writes && stop == retry.StopNone && replied && retryableCode(c.Failure.Code)
}

// clientLabels reports whether the client adds the label to a reply. It does so only for older servers, and not for the
// writeConcernError of a mongos.
func (c *MongoCase) clientLabels() bool {
	stop, _ := c.refusal()
	fromMongos := c.Failure.Kind == MongoWriteConcern && (c.Server == Sharded || c.Server == LoadBalanced)
	return c.Before44 && stop == retry.StopNone && !fromMongos && retryableCode(c.Failure.Code) && c.Failure.Code != readOnlyCode
}
