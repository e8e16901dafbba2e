// Package stableapi has the rules of the Stable API: the fields of commands that declare it, and the commands and stages that it has.
package stableapi

import (
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// The lists are those of https://www.mongodb.com/docs/manual/reference/stable-api/

// stableCommands are the commands of version 1 of the API.
var stableCommands = []string{
	"abortTransaction", "aggregate", "authenticate", "bulkWrite", "collMod", "commitTransaction", "count", "create", "createIndexes",
	"createSearchIndexes", "delete", "deleteIndexes", "drop", "dropDatabase", "dropIndexes", "endSessions", "explain", "find",
	"findAndModify", "getMore", "hello", "insert", "isMaster", "ismaster", "killCursors", "listCollections", "listDatabases",
	"listIndexes", "ping", "refreshSessions", "saslContinue", "saslStart", TestDeprecation, "update", "updateSearchIndex",
}

// The commands with which drivers test the API. The real server has them if its parameter enableTestCommands is set.
const (
	TestVersion2    = "testVersion2"    // not in version 1
	TestDeprecation = "testDeprecation" // deprecated in version 1
)

// Fields are the fields with which a client declares the API that it uses.
type Fields struct {
	version     string
	declared    bool // there is a version
	qualified   bool // one of the other two fields is there
	strict      bool // the client uses nothing but version 1
	deprecation bool // the client uses nothing that is deprecated
}

// Read takes a field.
func (a *Fields) Read(command string, e *wire.Element) error {
	want := bson.TypeBoolean
	if string(e.Key) == "apiVersion" {
		want = bson.TypeString
	}
	switch {
	case e.Type == bson.TypeNull:
		return nil
	case e.Type != want && want == bson.TypeString:
		return fields.WrongType(command, string(e.Key), e.Type, "string")
	case e.Type != want:
		return fields.WrongType(command, string(e.Key), e.Type, "bool")
	}
	switch string(e.Key) {
	case "apiVersion":
		a.version, a.declared = string(e.Text()), true
	case "apiStrict":
		a.strict, a.qualified = e.True(), true
	default:
		a.deprecation, a.qualified = e.True(), true
	}
	return nil
}

// Check refuses another version of the API, and a command that the client has said it does not use; where the server's parameter
// requireApiVersion is set, also a command that declares no version.
func (a *Fields) Check(command string, required bool) error {
	switch _, notNumber := strconv.ParseUint(a.version, 10, 31); {
	case !a.declared && a.qualified:
		return mongoerr.Errorf(4886600, "Provided apiStrict and/or apiDeprecationErrors without passing apiVersion")
	case !a.declared && required:
		return mongoerr.Errorf(498870, "The apiVersion parameter is required, please configure your MongoClient's API version")
	case !a.declared:
		return nil
	case notNumber != nil || a.version[0] == '0':
		return mongoerr.Errorf(mongoerr.APIVersionError, "API version must be \"1\"")
	case a.version != "1":
		return mongoerr.Errorf(mongoerr.APIVersionError, "Cannot accept API version %s", a.version)
	case a.strict && !slices.Contains(stableCommands, command):
		return mongoerr.Errorf(mongoerr.APIStrictError,
			"Provided apiStrict:true, but the command %s is not in API Version 1. Information on supported commands and "+
				"migrations in API Version 1 can be found at https://dochub.mongodb.org/core/manual-versioned-api.", command)
	case a.deprecation && command == TestDeprecation:
		return mongoerr.Errorf(mongoerr.APIDeprecationError,
			"Provided apiDeprecationErrors:true, but the command %s is deprecated in API Version 1. Information on supported commands and "+
				"migrations in API Version 1 can be found at https://dochub.mongodb.org/core/manual-versioned-api.", command)
	}
	return nil
}
