package compare

import (
	"context"

	"github.com/holdfast-db/holdfast/mongotest"
)

// Disconnect during the selection of a server has no row: the official driver then selects again and again without a
// wait, and the fake clock stands still.
var clientRows = []row{
	{name: "an operation after Disconnect", faults: disconnect, do: findOne(byID)},
	{name: "Disconnect twice", faults: disconnect, do: func(ctx context.Context, s *stage) (any, error) {
		return nil, s.client.Disconnect(ctx)
	}},
	{name: "a write whose retry ends with write errors", faults: func(s *stage) {
		s.set.Use("insert", mongotest.FaultOnce(mongotest.Fault{Error: &mongotest.CommandError{
			Code: 6, Name: "HostUnreachable", Message: "scripted", Labels: []string{"RetryableWriteError"},
		}}))
	}, do: insertMany([]any{one, huge("known", 1)})},
}

func disconnect(s *stage) {
	if err := s.client.Disconnect(context.Background()); err != nil {
		s.t.Error(err)
	}
}
