package router

import (
	"errors"
	"testing"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
)

// Only the refused login of an operation's own connection is the matter of its user.
func TestWhoseLoginWasRefused(t *testing.T) {
	login := &auth.Error{Mechanism: auth.SCRAMSHA256, Err: errors.New("refused")}
	refused := &cluster.HandshakeError{Address: "a:1", Err: login}
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"its own":           {refused, true},
		"cut off":           {&cluster.HandshakeError{Address: "a:1", Err: login, Network: true}, false},
		"that of another":   {&cluster.PoolClearedError{Address: "a:1", Cause: refused}, false},
		"another handshake": {&cluster.HandshakeError{Address: "a:1", Err: errors.New("no")}, false},
	} {
		if got := refusesLogin(c.err); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
