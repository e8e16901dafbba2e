package router

import (
	"context"
	"fmt"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/router/scramserver"
)

// account is who a client is, once it has logged in.
type account struct {
	id
	user *cluster.User // whose connections to the members it uses; nil: those of the router's own user
	// operator means that it may see and end what belongs to others, although that is all of the router's user.
	operator bool
}

// id names a user.
type id struct{ db, name string }

// String returns the name and the database.
func (i id) String() string { return fmt.Sprintf("%q of %q", i.name, i.db) }

// accounts knows who may log in, and how.
type accounts interface {
	// verifiers returns what is kept of a user's password, by the mechanism. It is nil for a user who does not exist.
	verifiers(ctx context.Context, user id) (map[string]scramserver.Verifier, error)
	// proved returns the account of a user who has proved the password of a verifier.
	proved(user id, mechanism string, v *scramserver.Verifier, clientKey []byte) *account
	// certified returns the account of the subject of a certificate, nil if it has none.
	certified(subject string) *account
}

// mechanisms are those with a password, the better one first.
var mechanisms = []string{auth.SCRAMSHA256, auth.SCRAMSHA1}
