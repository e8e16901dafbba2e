package router

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/internal/router/userfile"
)

// longestDatabase is the size in bytes of the longest name of a database.
const longestDatabase = 63

// checkDatabase refuses a command without the name of a database. A member may end the connection that brings it one, which the router
// would take for a failure of the network: it would send the command again, and close the connections that other clients use.
func (c *command) checkDatabase() *refusal {
	switch {
	case c.Header.OpCode == wire.OpMsg && c.databaseType == 0:
		return &refusal{code: codeNoDatabase, name: "Location40571", text: "the command has no $db; each OP_MSG must have one"}
	case c.Header.OpCode == wire.OpMsg && c.databaseType != bson.TypeString:
		return typeMismatch("$db has the BSON type %v, it must be a string", c.databaseType)
	case !validDatabase(c.Database):
		text := "the name of the database must have 1 to 63 bytes, and none of the characters /, \\, ., \", $, space and NUL"
		return &refusal{code: codeInvalidNamespace, name: "InvalidNamespace", text: text}
	}
	return nil
}

// validDatabase follows the manual's naming restrictions. The one name with $ is that of the users whom something else vouches for.
func validDatabase(name string) bool {
	return name == userfile.External || name != "" && len(name) <= longestDatabase && !strings.ContainsAny(name, "/\\. \"$\x00")
}
