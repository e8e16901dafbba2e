package mongotest

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
