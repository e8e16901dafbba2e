package stableapi

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// unstableFields are the fields of commands that version 1 of the API does not have, in the order in which they are looked for.
var unstableFields = map[string][]string{
	"create": {"size", "max", "storageEngine", "indexOptionDefaults"},
	"find":   {"min", "max", "returnKey", "showRecordId", "tailable", "oplogReplay", "noCursorTimeout", "awaitData"},
}

// CheckFields refuses the fields of a command that a client does not use that uses nothing but version 1.
func (a *Fields) CheckFields(command string, args []wire.Element) error {
	if !a.strict {
		return nil
	}
	for _, name := range unstableFields[command] {
		if slices.ContainsFunc(args, func(e wire.Element) bool { return string(e.Key) == name }) {
			return mongoerr.Errorf(mongoerr.APIStrictError, "BSON field '%s' is not allowed with apiStrict:true.", name)
		}
	}
	return nil
}

// CheckIndex refuses the specification of an index in the same way.
func (a *Fields) CheckIndex(spec []byte) error {
	if !a.strict {
		return nil
	}
	for _, v := range query.Elements(query.Lookup(spec, "key").Data) {
		if v.Type == bson.TypeString && string(v.Text()) == "text" {
			return mongoerr.Errorf(mongoerr.APIStrictError, "Error in specification %s :: caused by :: text indexes cannot be created with "+
				"apiStrict: true", query.DocumentText(spec))
		}
	}
	return nil
}

// CheckPipeline refuses stages in the same way, at any depth.
func (a *Fields) CheckPipeline(stages []byte) error {
	if !a.strict {
		return nil
	}
	for _, stage := range query.Elements(stages) {
		for it := wire.Elements(stage.Data); it.Next(); {
			if err := a.checkStage(string(it.Key), query.Of(it.Element)); err != nil {
				return err
			}
		}
	}
	return nil
}

// unstableStages are the stages that version 1 of the API does not have.
var unstableStages = []string{"$currentOp", "$indexStats", "$listLocalSessions", "$listSessions", "$planCacheStats"}

func (a *Fields) checkStage(name string, spec query.Value) error {
	switch {
	case slices.Contains(unstableStages, name):
		return mongoerr.Errorf(mongoerr.APIStrictError, "%s is not allowed with 'apiStrict: true' in API Version 1", name)
	case !spec.IsDocument():
	case name == "$collStats":
		for it := wire.Elements(spec.Data); it.Next(); {
			if string(it.Key) != "count" {
				return mongoerr.Errorf(mongoerr.APIStrictError, "only the 'count' option to $collStats is supported in API Version 1")
			}
		}
	case name == "$lookup" || name == "$unionWith":
		return a.CheckPipeline(query.Lookup(spec.Data, "pipeline").Data)
	case name == "$facet":
		for _, inner := range query.Elements(spec.Data) {
			if err := a.CheckPipeline(inner.Data); err != nil {
				return err
			}
		}
	}
	return nil
}
