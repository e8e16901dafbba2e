package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/holdfast-db/holdfast/retry"
)

// A message with an id is idempotent at a broker that drops what it has already; without one the same failure is not
// retried, and the error says that the outcome is not known.
func ExampleEngine_Do_publish() {
	engine, err := retry.New(retry.Options{Strategy: retry.Once()})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, effect := range []retry.Effect{retry.EffectIdempotent, retry.EffectNotIdempotent} {
		b := &broker{losesAcks: 1}
		err := engine.Do(context.Background(), retry.Operation{Effect: effect}, func(context.Context, int) retry.Failure {
			if err := b.publish("order-1", "paid"); err != nil {
				return retry.Failure{Err: err, Stage: retry.StageInFlight, Reason: retry.ReasonNetworkError, Endpoint: "broker:1"}
			}
			return retry.Failure{}
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
