//go:build ours

package gocbfailures

import "github.com/holdfast-db/holdfast/couchbase"

type failedAction = couchbase.FailedRetryAction
