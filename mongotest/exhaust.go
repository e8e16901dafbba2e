package mongotest

import "github.com/holdfast-db/holdfast/internal/mongo/wire"

// https://github.com/mongodb/specifications/blob/master/source/message/OP_MSG.md, exhaustAllowed and moreToCome

// streamBatches executes the getMore again and again, until its cursor has no more, an error is the answer or the connection ends.
func (x *exec) streamBatches() error {
	for x.result.streaming {
		answered := x.result.id
		x.result = x.result.again(0)
		x.evaluation.reset()
		x.result.id = x.conn.deployment.cluster.replies.Add(1)
		at, out := wire.BeginMsg(x.result.out, x.result.id, answered, 0)
		x.result.out = out
		reply, err := x.serve(nil)
		if err != nil {
			return err
		}
		x.result.out = wire.EndMessage(x.result.out, at)
		if err := x.deliver(reply); err != nil {
			return err
		}
	}
	return nil
}
