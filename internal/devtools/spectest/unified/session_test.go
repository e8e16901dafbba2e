package unified

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// The runner reads private fields of a session, so a new release of the client may change it.
func TestSessionState(t *testing.T) {
	client, err := mongoConnect(options.Client().ApplyURI("mongodb://no.such.host.invalid/"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(context.Background())
	s, err := client.StartSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.EndSession(context.Background())
	for _, step := range []struct {
		do    func() error
		state string
	}{
		{func() error { return nil }, "none"},
		{func() error { return s.StartTransaction() }, "starting"},
		{func() error { return s.AbortTransaction(context.Background()) }, "aborted"},
		{func() error { return s.StartTransaction() }, "starting"},
		{func() error { return s.CommitTransaction(context.Background()) }, "committed"},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if got, want := mongoSessionState(s), (sessionState{transaction: step.state}); got != want {
			t.Errorf("the state is %+v, want %+v", got, want)
		}
	}
}
