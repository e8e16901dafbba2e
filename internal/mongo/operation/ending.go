package operation

import (
	"slices"

	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

// ending is what an operation does to the transaction of its session.
type ending uint8

const (
	endsNothing ending = iota
	commits
	aborts
)

// EndsTransaction reports whether the operation commits or aborts a transaction.
func (op *Operation) EndsTransaction() bool { return op.ends != endsNothing }

// ending returns the operation that ends the transaction, nil if the server does not know the transaction. It is a
// retryable write, also with retryWrites=false.
func (s *Session) ending(name string, ends ending) *Operation {
	if s.transaction.unused {
		return nil
	}
	return &Operation{
		Name: name, Database: "admin", Command: endingCommand{name, s}, Kind: Write, Retryable: true,
		Idempotency: retry.Idempotent, Session: s, ends: ends,
	}
}

// endingCommand is commitTransaction or abortTransaction.
type endingCommand struct {
	name    string
	session *Session
}

func (c endingCommand) AppendTo(b []byte, _ Attempt) ([]byte, error) {
	t := &c.session.transaction
	b = wire.AppendInt32(b, c.name, 1)
	if t.recoveryToken != nil {
		b = wire.AppendDocument(b, "recoveryToken", t.recoveryToken)
	}
	return b, nil
}

// Accept returns a write concern error as a CommandError, like the official driver.
func (c endingCommand) Accept(reply *Reply) error {
	if reply.WriteConcernError == nil {
		return nil
	}
	e := official.CommandError{Labels: reply.LabelTexts(), Raw: slices.Clone(reply.Body)}
	for it := wire.Elements(reply.WriteConcernError); it.Next(); {
		switch string(it.Key) {
		case "code":
			code, _ := it.Int64()
			e.Code = int32(code)
		case "codeName":
			e.Name = string(it.Text())
		case "errmsg":
			e.Message = string(it.Text())
		}
	}
	return e
}
