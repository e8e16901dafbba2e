package command

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// https://www.mongodb.com/docs/manual/reference/command/validate/

func cmdValidate(x *call.Call) error {
	if err := x.CollectionName(); err != nil {
		return err
	}
	if err := checkValidate(x); err != nil {
		return err
	}
	return x.Reading(func(x call.Locked) error {
		c, err := x.Stored(x.Command.Full)
		if err != nil {
			return err
		}
		if c == nil {
			return mongoerr.Errorf(mongoerr.NamespaceNotFound, "Collection '%s' does not exist to validate.", x.Command.Full)
		}
		x.Result.Out = c.AppendValidation(x.Result.Out, x.Command.Full)
		return nil
	})
}

// checkValidate refuses options of validate that do not go together. The real server ignores fields that it does not know.
func checkValidate(x *call.Call) error {
	on := func(name string) bool {
		v := x.Arg(name)
		return !v.Missing() && v.Type != bson.TypeNull && (v.True() || v.Type != bson.TypeBoolean && !v.IsNumber())
	}
	both := func(first, second string) error {
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Running the validate command with both { %s: true } and %s is not supported.", first, second)
	}
	switch {
	case on("background") && on("full"):
		return both("background", "{ full: true }")
	case on("background") && on("enforceFastCount"):
		return both("background", "{ enforceFastCount: true } or { enforceFastSize: true }")
	case on("background") && on("repair"):
		return both("background", "{ repair: true }")
	case on("metadata") && (on("background") || on("full") || on("enforceFastCount") || on("repair") || on("checkBSONConformance")):
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Running the validate command with { metadata: true } is not supported with any other options")
	case on("checkBSONConformance") && on("repair"):
		return both("checkBSONConformance", "{ repair: true }")
	case on("background") && x.Client.Set.Standalone:
		return mongoerr.Errorf(mongoerr.CommandNotSupported,
			"Running the validate command with { background: true } is not supported in standalone mode")
	}
	if x.Client.Set.Version.AtLeast(9, 0) {
		for _, name := range []string{"hashPrefixes", "revealHashedIds"} {
			if on(name) && !on("collHash") {
				return mongoerr.Errorf(mongoerr.InvalidOptions, "Running the validate command with { %s: [] } requires {collHash: true}.", name)
			}
		}
		if on("collHash") {
			return fields.Unsupported("validate", "collHash")
		}
	}
	for _, name := range []string{"repair", "fixMultikey"} {
		if on(name) {
			return fields.Unsupported("validate", name)
		}
	}
	return nil
}
