package auth

import "context"

// Mechanism is a way to log in with one credential. It is safe for concurrent use.
type Mechanism interface {
	// Name returns the mechanism's name, as in authMechanism.
	Name() string
	// Begin returns the conversation for one connection.
	Begin() Conversation
	// Speculates reports whether the first command of the next conversation may be sent with hello
	// (speculativeAuthenticate).
	Speculates() bool
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
