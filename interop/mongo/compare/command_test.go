package compare

import (
	"context"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

var runCommandRows = []row{
	{name: "runCommand whose reply has writeErrors", do: runCommand(command("insert", "c", "documents", bson.A{byID}))},
	{name: "runCommand whose reply has a writeConcernError", do: runCommand(command(
		"insert", "c", "documents", bson.A{one}, "writeConcern", bson.D{{Key: "w", Value: 2}}))},
	{name: "runCommand that the server does not know", do: runCommand(command("nonsense", 1))},
	{
		name: "runCommand with lsid", do: runCommand(command("ping", 1, "lsid", bson.D{{Key: "id", Value: 1}})),
		differ: []string{"error"}, why: "a field that the client adds is refused before the command is sent",
	},
	{
		name: "runCommand with $db", do: runCommand(command("ping", 1, "$db", "x")),
		differ: []string{"error"}, why: "a field that the client adds is refused before the command is sent",
	},
	{name: "runCommand with $readPreference", do: runCommand(command("ping", 1, "$readPreference", bson.D{{Key: "mode", Value: "primary"}}))},
}

var eventRows = func() []row {
	var rows []row
	for _, c := range []struct {
		name     string
		command  bson.D
		redacted bool
	}{
		{"createUser", command("createUser", "u", "pwd", "secret", "roles", bson.A{}), true},
		{"createuser in lower case", command("createuser", "u", "pwd", "secret", "roles", bson.A{}), true},
		{"CREATEUSER in upper case", command("CREATEUSER", "u", "pwd", "secret", "roles", bson.A{}), true},
		{"updateUser", command("updateUser", "u", "pwd", "secret", "roles", bson.A{}), true},
		{"saslStart", command("saslStart", 1, "mechanism", "SCRAM-SHA-256", "payload", "secret"), true},
		{"saslContinue", command("saslContinue", 1, "conversationId", 1, "payload", "secret"), true},
		{"authenticate", command("authenticate", 1, "key", "secret"), true},
		{"getnonce", command("getnonce", 1), true},
		{"copydb", command("copydb", 1, "key", "secret"), true},
		{"copydbgetnonce", command("copydbgetnonce", 1), true},
		{"copydbsaslstart", command("copydbsaslstart", 1, "key", "secret"), true},
		{"hello", command("hello", 1), false},
		{"hello with speculativeAuthenticate", command("hello", 1, "speculativeAuthenticate", bson.D{{Key: "saslStart", Value: 1}}), true},
		{"isMaster with speculativeAuthenticate", command("isMaster", 1, "speculativeAuthenticate", bson.D{{Key: "saslStart", Value: 1}}), true},
		{"ismaster with speculativeAuthenticate", command("ismaster", 1, "speculativeAuthenticate", bson.D{{Key: "saslStart", Value: 1}}), true},
		{"ping with speculativeAuthenticate", command("ping", 1, "speculativeAuthenticate", bson.D{{Key: "saslStart", Value: 1}}), false},
	} {
		name := c.command[0].Key
		for _, end := range []struct {
			name   string
			faults func(*stage)
		}{
			{"", answering(name)},
			{" that fails", refusing(name, &mongotest.CommandError{
				Code: 18, Name: "AuthenticationFailed", Message: "the password is secret",
			})},
			{" whose connection breaks", loses(name)},
		} {
			r := row{name: "events of " + c.name + end.name, do: watching(runCommand(c.command)), faults: end.faults}
			switch {
			case strings.Contains(c.name, " case"):
				r.differ, r.why = []string{"result"}, "the case of the name does not matter to a password"
			case c.redacted && end.name == " that fails":
				r.differ, r.why = []string{"result"}, "the server's message may have a secret too"
			}
			rows = append(rows, r)
		}
	}
	return rows
}()

func (s *stage) heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.events...)
}

// watching returns the events of the call as its result.
func watching(do call) call {
	return func(ctx context.Context, s *stage) (any, error) {
		before := len(s.heard())
		_, err := do(ctx, s)
		return s.heard()[before:], err
	}
}
