package account

import (
	"crypto/md5"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/xdg-go/scram"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// The mechanisms by which a user may authenticate.
const (
	SCRAMSHA1   = "SCRAM-SHA-1"
	SCRAMSHA256 = "SCRAM-SHA-256"
	X509        = "MONGODB-X509"
	Plain       = "PLAIN"
	AWS         = "MONGODB-AWS"
	OIDC        = "MONGODB-OIDC"
)

// External is the database of users that something outside the server vouches for.
const External = "$external"

// Account is a user as the server keeps it.
type Account struct {
	Name, DB string
	id       [16]byte
	Roles    []byte // as createUser was given them; nil: root
	Scram    map[string]scram.StoredCredentials
	plain    string // the password of PLAIN; empty: the user has not that mechanism
	external string // the mechanism of a user of $external without a password; empty: X509
}

// iterations are what the real server asks for by default.
var iterations = map[string]int{SCRAMSHA1: 10000, SCRAMSHA256: 15000}

// New checks a user and returns what the server keeps of the name and the password. The database is "admin" if it is empty, and the
// mechanisms are all that there are if there are none.
func New(db, name, password string, mechanisms []string) (*Account, error) {
	if db == "" {
		db = "admin"
	}
	a := &Account{Name: name, DB: db, Scram: make(map[string]scram.StoredCredentials)}
	_, _ = rand.Read(a.id[:])
	a.id[6], a.id[8] = a.id[6]&0x0f|0x40, a.id[8]&0x3f|0x80
	if name == "" {
		return nil, errors.New("mongotest: a user's name is empty")
	}
	if db == External {
		return a, a.setExternal(password, mechanisms)
	}
	if password == "" {
		return nil, fmt.Errorf("mongotest: user %q has no password", name)
	}
	if len(mechanisms) == 0 {
		mechanisms = []string{SCRAMSHA1, SCRAMSHA256}
	}
	for _, m := range mechanisms {
		credentials, err := credentialsOf(m, name, password)
		if err != nil {
			return nil, fmt.Errorf("mongotest: user %q: %w", name, err)
		}
		a.Scram[m] = credentials
	}
	return a, nil
}

// With returns the account with another password, with other mechanisms, or both. Without a password the mechanisms must be among
// those that the account has.
func (a *Account) With(password string, mechanisms []string) (*Account, error) {
	changed := *a
	if password != "" {
		if len(mechanisms) == 0 {
			mechanisms = a.mechanisms()
		}
		next, err := New(a.DB, a.Name, password, mechanisms)
		if err != nil {
			return nil, err
		}
		changed.Scram, changed.plain = next.Scram, next.plain
		return &changed, nil
	}
	for _, m := range mechanisms {
		if !slices.Contains(a.mechanisms(), m) {
			return nil, errors.New("mechanisms field must be a subset of previously set mechanisms")
		}
	}
	if len(mechanisms) > 0 {
		changed.Scram = maps.Clone(a.Scram)
		maps.DeleteFunc(changed.Scram, func(m string, _ scram.StoredCredentials) bool { return !slices.Contains(mechanisms, m) })
	}
	return &changed, nil
}

// mechanisms returns those with a password.
func (a *Account) mechanisms() []string {
	if a.plain != "" {
		return []string{Plain}
	}
	return slices.Sorted(maps.Keys(a.Scram))
}

// setExternal makes the account one for PLAIN, which has a password, or for another mechanism, which has none.
func (a *Account) setExternal(password string, mechanisms []string) error {
	switch {
	case slices.Equal(mechanisms, []string{Plain}) && password == "":
		return fmt.Errorf("mongotest: user %q has no password", a.Name)
	case slices.Equal(mechanisms, []string{Plain}):
		a.plain = password
	case slices.Equal(mechanisms, []string{AWS}), slices.Equal(mechanisms, []string{OIDC}):
		a.external = mechanisms[0]
	case password != "":
		return fmt.Errorf("mongotest: user %q of $external has a password, but its mechanism is not PLAIN", a.Name)
	}
	return nil
}

// HasPlain reports whether the user has PLAIN.
func (a *Account) HasPlain() bool { return a.plain != "" }

// AcceptsPlain reports whether the user has PLAIN and this password.
func (a *Account) AcceptsPlain(password string) bool { return a.HasPlain() && a.plain == password }

func credentialsOf(mechanism, name, password string) (scram.StoredCredentials, error) {
	var client *scram.Client
	var err error
	salt := make([]byte, 16)
	switch mechanism {
	case SCRAMSHA1:
		sum := md5.Sum([]byte(name + ":mongo:" + password)) //nolint:gosec // SCRAM-SHA-1 in MongoDB begins with it
		client, err = scram.SHA1.NewClientUnprepped(name, hex.EncodeToString(sum[:]), "")
	case SCRAMSHA256:
		client, err = scram.SHA256.NewClient(name, password, "")
		salt = make([]byte, 28)
	case Plain:
		err = errors.New("PLAIN is for users of $external")
	default:
		err = fmt.Errorf("the mechanism %q is unknown; there are SCRAM-SHA-1 and SCRAM-SHA-256", mechanism)
	}
	if err != nil {
		return scram.StoredCredentials{}, err
	}
	_, _ = rand.Read(salt)
	return client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: string(salt), Iters: iterations[mechanism]})
}

// Mechanisms returns the names that a hello lists for the user.
func (a *Account) Mechanisms() []string {
	switch {
	case a.HasPlain():
		return []string{Plain}
	case a.external != "":
		return []string{a.external}
	case a.DB == External:
		return []string{X509}
	}
	var names []string
	for name := range a.Scram {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Named returns the account of a user among others, nil if there is none.
func Named(all []*Account, db, name string) *Account {
	for _, a := range all {
		if a.DB == db && a.Name == name {
			return a
		}
	}
	return nil
}

// FullName is the user's id.
func (a *Account) FullName() string { return a.DB + "." + a.Name }

// AppendInfo appends the account as usersInfo has it, with what the server keeps of the password if the caller asks for that.
func (a *Account) AppendInfo(dst []byte, key string, credentials bool) []byte {
	at, dst := wire.BeginEmbedded(dst, key)
	dst = wire.AppendString(dst, "_id", a.FullName())
	dst = wire.AppendBinary(dst, "userId", bson.TypeBinaryUUID, a.id[:])
	dst = wire.AppendString(dst, "user", a.Name)
	dst = wire.AppendString(dst, "db", a.DB)
	if credentials {
		dst = a.appendCredentials(dst)
	}
	dst = a.AppendRoles(dst, "roles")
	dst = wire.AppendStrings(dst, "mechanisms", a.Mechanisms())
	return wire.EndDocument(dst, at)
}

// AppendRoles appends the roles that the account has.
func (a *Account) AppendRoles(dst []byte, key string) []byte {
	if a.Roles != nil {
		return wire.AppendValue(dst, key, bson.TypeArray, a.Roles)
	}
	at, dst := wire.BeginArray(dst, key)
	role, dst := wire.BeginEmbedded(dst, "0")
	dst = wire.AppendString(wire.AppendString(dst, "role", "root"), "db", "admin")
	return wire.EndDocument(wire.EndDocument(dst, role), at)
}
