package retry_test

import (
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
	"github.com/holdfast-db/holdfast/retry/mongoreason"
)

func init() {
	retry.DatabaseReasons.Couchbase = couchbasereason.All()
	retry.DatabaseReasons.OwnCouchbase = []retry.Reason{couchbasereason.KVConfigOnly, couchbasereason.BucketOpening, couchbasereason.NodeConnecting}
	retry.DatabaseReasons.MongoDB = mongoreason.All()
}
