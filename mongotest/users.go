package mongotest

import (
	"fmt"

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
	// empty; [AWS] and [OIDC] are for the others.
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

// addUsers makes the users of the options.
func (rs *Deployment) addUsers() error {
	for _, u := range rs.config.users {
		a, err := account.New(u.Database, u.Name, u.Password, u.Mechanisms)
		if err != nil {
			return err
		}
		if rs.cluster.User(a.DB, a.Name) != nil {
			return fmt.Errorf("mongotest: Users: %s is there twice", a.FullName())
		}
		rs.cluster.Users = append(rs.cluster.Users, a)
	}
	for _, i := range rs.config.awsIdentities {
		rs.addExternalUser(i.ARN, account.AWS)
	}
	if len(rs.cluster.Users)+len(rs.config.providers) > 0 {
		rs.cluster.Guarded.Store(true)
	}
	return nil
}

// addExternalUser makes somebody a user of $external, unless he is one. The name must not be empty.
func (rs *Deployment) addExternalUser(name, mechanism string) {
	rs.set.Lock()
	defer rs.set.Unlock()
	if account.Named(rs.cluster.Users, account.External, name) == nil {
		if a, err := account.New(account.External, name, "", []string{mechanism}); err == nil {
			rs.cluster.Users = append(rs.cluster.Users, a)
		}
	}
}
