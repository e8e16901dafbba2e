package prove

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/holdfast-db/holdfast/mongotest"
)

// closing is a client that only notes that it was closed.
type closing struct {
	Client
	closed chan struct{}
}

func (c closing) Close(context.Context) error {
	close(c.closed)
	return nil
}

// A client whose creation hangs does not outlive Ctrl-C.
func TestConnectingToAServerEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	hang, client := make(chan struct{}), closing{closed: make(chan struct{})}
	_, err := ConnectServer(ctx, "mongodb://nobody", func(Target) (Client, error) {
		cancel(interrupted)
		<-hang
		return client, nil
	})
	if !errors.Is(err, interrupted) {
		t.Errorf("%v", err)
	}
	close(hang)
	<-client.closed
}

// A server that ends during a cell, and is started again, makes the cell begin again. Its connections that clients close do not.
func TestAServerThatEndsDuringACell(t *testing.T) {
	rs := mongotest.RunStandaloneT(t)
	server, err := ConnectServer(t.Context(), rs.URI(), Default())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Leave() }()
	m := embeddedMatrix(t, server, []string{OneRetry}, []string{"reply-lost"})
	m.Settings.Size.Operations, m.Settings.Size.MessageHits = 30, 4
	server.Adjust(&m.Settings)
	var updates atomic.Int32
	rs.Use("update", mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
		if updates.Add(1) != 20 {
			return mongotest.Fault{}
		}
		return mongotest.Fault{Before: func() { rs.Kill(0); rs.Restart(0) }}
	}))
	r := &run{Matrix: m, report: &Report{Results: make([]Result, 1)}} // no probes: a busy machine repeats no cell
	r.settle(t.Context(), 0)
	if c := r.report.Results[0]; c.Repeats != 1 || c.Error != "" || !c.AsExpected() {
		t.Errorf("%d repeats, error %q, verdict %v", c.Repeats, c.Error, c.Verdict)
	}
}
