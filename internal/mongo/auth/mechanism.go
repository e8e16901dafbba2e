package auth

import "context"

// Mechanism is a way to log in with one credential. It is safe for concurrent use.
type Mechanism interface {
	// Name returns the mechanism's name, as in authMechanism.
	Name() string
	// Begin returns a conversation with the server at a host (a name, an IP address, or a path).
	Begin(host string) Conversation
	// Speculate returns a conversation whose first command may be sent with hello (speculativeAuthenticate), nil if there is none.
	Speculate(host string) Conversation
}

// Conversation is one login on one connection, as seen by the client. A command is the elements of its document without
// the database. A context limits mechanisms that must ask somebody else for a secret. It is not safe for concurrent use.
type Conversation interface {
	// Start returns the first command.
	Start(ctx context.Context) ([]byte, error)
	// Next reads the reply to the last command and returns the next one, nil if the login is complete. An error means
	// that the server must not be trusted.
	Next(ctx context.Context, reply []byte) ([]byte, error)
}

// borrower is a conversation whose secret comes from somebody else and is kept for more than one login.
type borrower interface {
	// refused says that a login with the secret has failed, with the code of the server's reply, else 0. It forgets the secret if the
	// code means that it is of no use, and reports whether another conversation may have a better one.
	refused(code int32) bool
	// expired says that the login which was made with the secret has expired, and forgets the secret.
	expired()
}
