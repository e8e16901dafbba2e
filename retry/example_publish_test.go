package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/holdfast-db/holdfast/retry"
)

// Publishing a message with an id is idempotent at a broker that drops a message which it has already. Without that it is not
// retried when the acknowledgement is lost, and the error says that the outcome is not known.
func ExampleEngine_Do_publish() {
	engine, err := retry.New(retry.Options{Strategy: retry.RetryOnce()})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, idempotency := range []retry.Idempotency{retry.Idempotent, retry.NotIdempotent} {
		b := &broker{losesAcks: 1}
		err := engine.Do(context.Background(), retry.Operation{Idempotency: idempotency}, func(context.Context, int) retry.Failure {
			failure := retry.Failure{Err: b.publish("order-1", "paid"), Endpoint: "broker:1"}
			if errors.Is(failure.Err, io.ErrUnexpectedEOF) { // the connection was lost
				failure.Stage, failure.Reason = retry.StageInFlight, retry.ReasonNetworkError
			}
			return failure
		})
		fmt.Println(len(b.messages), "message;", err)
		var history *retry.Error
		if errors.As(err, &history) {
			fmt.Println("outcome known:", history.OutcomeKnown())
		}
	}
	// Output:
	// 1 message; <nil>
	// 1 message; unexpected EOF (1 attempt: [1 at broker:1, in flight, NETWORK_ERROR: unexpected EOF] no more: not idempotent)
	// outcome known: false
}

// broker keeps one message for each id, and loses some of its acknowledgements.
type broker struct {
	messages  map[string]string
	losesAcks int
}

func (b *broker) publish(id, text string) error {
	if b.messages == nil {
		b.messages = map[string]string{}
	}
	b.messages[id] = text
	if b.losesAcks > 0 {
		b.losesAcks--
		return io.ErrUnexpectedEOF
	}
	return nil
}
