package mongotest

import (
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/account"
)

// User is someone who may authenticate. It has the role root.
type User struct {
	// Name is the user's name; for MONGODB-X509 the subject of the certificate, as RFC 2253 writes it.
	Name string
	// Password is in the clear. A user of $external has one only for PLAIN.
	Password string
	// Database is the one that the user belongs to ("authSource"); "admin" if it is empty.
	Database string
	// Mechanisms are SCRAM-SHA-1 and SCRAM-SHA-256; both if it is empty. A user of $external has PLAIN, or MONGODB-X509 if it is
	// empty.
	Mechanisms []string
}

// Users adds users. A server that has any lets nobody in who has not authenticated.
func Users(users ...User) Option {
	return deploymentOption(func(c *config) { c.users = append(c.users, users...) })
}

// RequireAuth makes servers without users let anybody in only until a user is created, as `mongod --auth` does.
func RequireAuth() Option {
	return deploymentOption(func(c *config) { c.requireAuth = true })
}

// userLocked returns a user, nil if there is none.
func (rs *Deployment) userLocked(db, name string) *account.Account {
	for _, a := range rs.users {
		if a.DB == db && a.Name == name {
			return a
		}
	}
	return nil
}

// user is userLocked for callers without the set's mutex. Its result does not change.
func (rs *Deployment) user(db, name string) *account.Account {
	rs.set.Lock()
	defer rs.set.Unlock()
	return rs.userLocked(db, name)
}

// enablesPlain reports whether a user has PLAIN. A real server has the mechanism only if it is configured.
func (rs *Deployment) enablesPlain() bool {
	rs.set.Lock()
	defer rs.set.Unlock()
	return slices.ContainsFunc(rs.users, (*account.Account).HasPlain)
}
