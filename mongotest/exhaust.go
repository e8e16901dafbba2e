package mongotest

import "github.com/holdfast-db/holdfast/internal/mongo/wire"

// https://github.com/mongodb/specifications/blob/master/source/message/OP_MSG.md, exhaustAllowed and moreToCome

// streamBatches executes the getMore again and again, until its cursor has no more, an error is the answer or the connection ends.
func (x *exec) streamBatches() error {
	for x.Result.Streaming {
		answered := x.Result.ID
		x.Result = x.Result.Again(0)
		x.Evaluation.Reset()
		x.Result.ID = x.conn.deployment.cluster.Replies.Add(1)
		at, out := wire.BeginMsg(x.Result.Out, x.Result.ID, answered, 0)
		x.Result.Out = out
		reply, err := x.dispatch(nil)
		if err != nil {
			return err
		}
		x.Result.Out = wire.EndMessage(x.Result.Out, at)
		if err := x.deliver(reply); err != nil {
			return err
		}
	}
	return nil
}
