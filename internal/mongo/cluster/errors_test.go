package cluster

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/holdfast-db/holdfast/retry"
)

func TestErrorTexts(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
		is   error
	}{
		{
			&IOError{Address: addrA, Stage: retry.StageInFlight, Err: io.EOF},
			"connection to a:27017 failed (" + retry.StageInFlight.String() + "): EOF", io.EOF,
		},
		{&HandshakeError{Address: addrA, Err: io.EOF}, "connecting to a:27017 failed: EOF", io.EOF},
		{
			&PoolClearedError{Address: addrA, Cause: io.EOF},
			"connection pool for a:27017 was cleared because another operation failed with: EOF", io.EOF,
		},
		{&SelectionError{Explanation: "none", Err: ErrSelectionTimeout}, "server selection error: server selection timeout: none", ErrSelectionTimeout},
	} {
		if c.err.Error() != c.want || !errors.Is(c.err, c.is) {
			t.Errorf("error %q, want %q", c.err, c.want)
		}
	}
}

func TestAFailedHandshakeKeepsTheServersReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{script: refusing(11600, "interrupted at shutdown")}
		s := bare(t, p, nil)
		found(t, s, standalone())
		_, err := s.CheckOut(t.Context(), nil)
		var failed *HandshakeError
		if !errors.As(err, &failed) {
			t.Fatalf("error %v", err)
		}
		if code, _ := failed.Reply.Lookup("code").Int32OK(); code != 11600 {
			t.Errorf("the reply is %v", failed.Reply)
		}
		if message, _ := failed.Reply.Lookup("errmsg").StringValueOK(); message != "interrupted at shutdown" {
			t.Errorf("the message is %q", message)
		}
	})
}

func TestAConnectionHasANumberAndAName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, &peer{hello: standalone()}, nil)
		found(t, s, standalone())
		c := checkOut(t, s)
		if c.ID() != 1 || c.Name() != "a:27017[-1]" || c.CheckedOut().IsZero() {
			t.Errorf("connection %d is %q, checked out at %v", c.ID(), c.Name(), c.CheckedOut())
		}
		s.CheckIn(c)
	})
}
