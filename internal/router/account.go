package router

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/router/scramserver"
	"github.com/holdfast-db/holdfast/internal/router/userfile"
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

// userOf returns the id of a user with a password. It reports whether such a user may have that name. Other names are not asked about: a member
// may end the connection, a long name fills memory, and a user of $external has no password.
func userOf(db, name string) (user id, ok bool) {
	valid := name != "" && len(name) <= userfile.LongestName && utf8.ValidString(name) && !strings.ContainsRune(name, 0)
	return id{db, name}, valid && validDatabase(db) && db != userfile.External
}

// accounts knows who may log in, and how.
type accounts interface {
	// about returns what is known of a user. It is nil for one who does not exist.
	about(ctx context.Context, user id) (*known, error)
	// secret returns bytes that only who has logged in could find out. The salts of users who do not exist are made of them. They are the same at
	// each router with the same users. They must not be made of a password, which could be guessed from those salts.
	secret(ctx context.Context) ([]byte, error)
	// proved returns the account of a user who has proved the password of a verifier. It is nil if the verifier is no longer that of the user.
	proved(user id, mechanism string, from *known, clientKey []byte) *account
	// certified returns the account of the subject of a certificate, nil if it has none.
	certified(subject string) *account
}

// known is what is known of a user.
type known struct {
	verifiers map[string]scramserver.Verifier // of the password, by the mechanism
	unique    string                          // no other user has it, and none that had the same name before; "" if the members do not say
	asked     time.Time                       // when the members were asked
}

// mechanisms are those with a password, the better one first.
var mechanisms = []string{auth.SCRAMSHA256, auth.SCRAMSHA1}
