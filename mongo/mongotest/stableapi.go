package mongotest

import (
	"slices"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
)

// https://www.mongodb.com/docs/manual/reference/stable-api/

// The commands on data and the stages that version 1 of the API does not have.
var (
	unstableCommands = []string{"distinct", "collStats", "dbStats", "dataSize", "validate", "renameCollection"}
	unstableStages   = []string{"$currentOp", "$indexStats", "$listLocalSessions", "$listSessions", "$planCacheStats"}
)

// checkAPI refuses a command that a client with apiStrict must not send.
func (c *command) checkAPI() error {
	if !c.strict || !slices.Contains(unstableCommands, c.name) {
		return nil
	}
	return mongoerr.Errorf(mongoerr.APIStrictError,
		"Provided apiStrict:true, but the command %s is not in API Version 1. Information on supported commands and "+
			"migrations in API Version 1 can be found at https://dochub.mongodb.org/core/manual-versioned-api", c.name)
}

// checkStage refuses a stage in the same way.
func (c *command) checkStage(name string) error {
	if !c.strict || !slices.Contains(unstableStages, name) {
		return nil
	}
	return mongoerr.Errorf(mongoerr.APIStrictError, "stage %s is not allowed with 'apiStrict: true' in API Version 1", name)
}
