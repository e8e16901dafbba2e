package prove

import (
	"context"
	"errors"
	"testing"
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
