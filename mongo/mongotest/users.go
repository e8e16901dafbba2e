package mongotest

import (
	"crypto/md5" //nolint:gosec // SCRAM-SHA-1 in MongoDB begins with it
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/xdg-go/scram"
)

// The mechanisms by which a user may authenticate.
const (
	scramSHA1   = "SCRAM-SHA-1"
	scramSHA256 = "SCRAM-SHA-256"
	mongodbX509 = "MONGODB-X509"
)

// external is the database of users that something outside the server vouches for.
const external = "$external"

// User is someone who may authenticate. What an authenticated user may do is not restricted.
type User struct {
	// Name is the user's name; for MONGODB-X509 the subject of the certificate, as RFC 2253 writes it.
	Name string
	// Password is in the clear. A user of $external has none.
	Password string
	// Database is the one that the user belongs to ("authSource"); "admin" if it is empty.
	Database string
	// Mechanisms are SCRAM-SHA-1 and SCRAM-SHA-256; both if it is empty.
	Mechanisms []string
}

// Users adds users. A server that has any lets nobody in who has not authenticated.
func Users(users ...User) Option {
	return deploymentOption(func(c *config) { c.users = append(c.users, users...) })
}

// RequireAuth makes servers without users let anybody in only until a user is created, as `mongod --auth` does.
func RequireAuth() Option { return deploymentOption(func(c *config) { c.requireAuth = true }) }

// account is a user as the server keeps it.
type account struct {
	name, db string
	id       [16]byte
	roles    []byte // as createUser was given them; nil: root
	scram    map[string]scram.StoredCredentials
}

// iterations are what the real server asks for by default.
var iterations = map[string]int{scramSHA1: 10000, scramSHA256: 15000}

// newAccount checks a user and works out what the server keeps of the password.
func newAccount(u User) (*account, error) {
	if u.Database == "" {
		u.Database = "admin"
	}
	a := &account{name: u.Name, db: u.Database, scram: make(map[string]scram.StoredCredentials)}
	_, _ = rand.Read(a.id[:])
	a.id[6], a.id[8] = a.id[6]&0x0f|0x40, a.id[8]&0x3f|0x80
	if u.Name == "" {
		return nil, errors.New("mongotest: a user's name is empty")
	}
	if u.Database == external {
		if u.Password != "" {
			return nil, fmt.Errorf("mongotest: user %q of $external has a password", u.Name)
		}
		return a, nil
	}
	if u.Password == "" {
		return nil, fmt.Errorf("mongotest: user %q has no password", u.Name)
	}
	if len(u.Mechanisms) == 0 {
		u.Mechanisms = []string{scramSHA1, scramSHA256}
	}
	for _, m := range u.Mechanisms {
		credentials, err := credentialsOf(m, u.Name, u.Password)
		if err != nil {
			return nil, fmt.Errorf("mongotest: user %q: %w", u.Name, err)
		}
		a.scram[m] = credentials
	}
	return a, nil
}

func credentialsOf(mechanism, name, password string) (scram.StoredCredentials, error) {
	var client *scram.Client
	var err error
	salt := make([]byte, 16)
	switch mechanism {
	case scramSHA1:
		sum := md5.Sum([]byte(name + ":mongo:" + password)) //nolint:gosec // as above
		client, err = scram.SHA1.NewClientUnprepped(name, hex.EncodeToString(sum[:]), "")
	case scramSHA256:
		client, err = scram.SHA256.NewClient(name, password, "")
		salt = make([]byte, 28)
	default:
		err = fmt.Errorf("the mechanism %q is unknown; there are SCRAM-SHA-1 and SCRAM-SHA-256", mechanism)
	}
	if err != nil {
		return scram.StoredCredentials{}, err
	}
	_, _ = rand.Read(salt)
	return client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: string(salt), Iters: iterations[mechanism]})
}

// mechanisms returns the names that a hello lists for the user.
func (a *account) mechanisms() []string {
	if a.db == external {
		return []string{mongodbX509}
	}
	var names []string
	for name := range a.scram {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// userLocked returns a user, nil if there is none.
func (rs *Deployment) userLocked(db, name string) *account {
	for _, a := range rs.users {
		if a.db == db && a.name == name {
			return a
		}
	}
	return nil
}

// user is userLocked for callers without the set's mutex. What it returns does not change.
func (rs *Deployment) user(db, name string) *account {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.userLocked(db, name)
}

// fullName is the user's id.
func (a *account) fullName() string { return a.db + "." + a.name }
