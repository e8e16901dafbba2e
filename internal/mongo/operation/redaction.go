package operation

import (
	"errors"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// sensitiveCommands are the commands that may have credentials in the command or the reply, in lower case (Command
// Logging and Monitoring, "Security").
var sensitiveCommands = map[string]bool{
	"authenticate": true, "saslstart": true, "saslcontinue": true, "getnonce": true, "createuser": true,
	"updateuser": true, "copydbgetnonce": true, "copydbsaslstart": true, "copydb": true,
}

// sensitive reports whether the events of a command must not show the command and the reply. The case of the name does
// not matter: a server refuses a misspelt name, but the password is in the command.
func sensitive(name string, command []byte) bool {
	lower := strings.ToLower(name)
	field, mayBe := sensitiveFields[lower]
	if !mayBe {
		return sensitiveCommands[lower]
	}
	for it := wire.Elements(command); it.Next(); {
		if string(it.Key) == field {
			return true
		}
	}
	return false
}

// sensitiveFields are those of commands, in lower case, that are sensitive with this field only. Who has the reply to usersInfo with showCredentials can
// try passwords, and log in elsewhere as the server; a router asks for it at each login. The specification does not name it.
var sensitiveFields = map[string]string{
	"hello": "speculativeAuthenticate", "ismaster": "speculativeAuthenticate", "usersinfo": "showCredentials",
}

// sensitiveCommand reports whether a command with this name may have credentials.
func sensitiveCommand(name string) bool { return sensitiveCommands[strings.ToLower(name)] }

// emptyDocument returns the document that the events of a sensitive command show.
func emptyDocument() bson.Raw { return bson.Raw{5, 0, 0, 0, 0} }

// redacted returns the error of a sensitive command for its event. Of an error that a server returned, it keeps the
// code, its name and the labels.
func redacted(err error) error {
	var refused official.CommandError
	if !errors.As(err, &refused) || refused.Raw == nil {
		return err
	}
	return official.CommandError{
		Code: refused.Code, Name: refused.Name, Labels: refused.Labels, Message: "the server's message is not shown",
	}
}
