package command

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/pipeline"
)

// https://www.mongodb.com/docs/manual/reference/command/createSearchIndexes/
//
// The commands on search indexes are refused as a server that has no search engine beside it refuses them.

func cmdSearchIndexes(*call.Call) error {
	return mongoerr.Errorf(mongoerr.SearchNotEnabled, "%s", pipeline.SearchIndexesRefused)
}
