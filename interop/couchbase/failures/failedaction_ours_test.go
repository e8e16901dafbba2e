//go:build ours

package failures

import "github.com/holdfast-db/holdfast/couchbase"

type failedAction = couchbase.FailedRetryAction
