package rules

import (
	"slices"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

// statusReasons has the statuses for which an operation is retried.
var statusReasons = map[memd.Status]retry.Reason{
	memd.StatusNotMyVBucket:        couchbasereason.KVNotMyVBucket,
	memd.StatusNoBucket:            couchbasereason.SocketNotAvailable,
	memd.StatusLocked:              couchbasereason.KVLocked,
	memd.StatusConfigOnly:          couchbasereason.KVConfigOnly,
	memd.StatusTemporaryFailure:    couchbasereason.KVTemporaryFailure,
	memd.StatusUnknownCollection:   couchbasereason.KVCollectionOutdated,
	memd.StatusUnknownScope:        couchbasereason.KVCollectionOutdated,
	memd.StatusSyncWriteInProgress: couchbasereason.KVSyncWriteInProgress,
	memd.StatusSyncWriteReCommit:   couchbasereason.KVSyncWriteReCommitInProgress,
	// These are left to the error map. That of a Couchbase server says that they are temporary.
	memd.StatusCancelled:     couchbasereason.KVErrorMapRetryIndicated,
	memd.StatusWouldThrottle: couchbasereason.KVErrorMapRetryIndicated,
	memd.StatusOutOfMemory:   couchbasereason.KVErrorMapRetryIndicated,
	memd.StatusBusy:          couchbasereason.KVErrorMapRetryIndicated,
}

// successes are the statuses that are no failure of an operation, and those of the login and of range scans, which are none of the client's.
var successes = []memd.Status{
	memd.StatusSuccess, memd.StatusSuccessDeleted, memd.StatusAuthContinue, memd.StatusRangeScanMore, memd.StatusRangeScanComplete,
}

// isSuccess reports whether a status is no failure of an operation. A look-up of several parts succeeds if some of them cannot be found.
func isSuccess(s memd.Status, o CouchbaseOperation) bool {
	parts := s == memd.StatusMultiFailure || s == memd.StatusMultiFailureDeleted
	return slices.Contains(successes, s) || parts && o.Name == "lookupIn"
}

// CouchbaseStatuses returns every status that has a name and is a failure of an operation.
func CouchbaseStatuses(o CouchbaseOperation) []memd.Status {
	var all []memd.Status
	for _, s := range memd.Statuses() {
		if !isSuccess(s, o) {
			all = append(all, s)
		}
	}
	return all
}

// reasonOfStatus returns the reason of a status. Of unlock, the status of a locked document means that the CAS is another one.
func reasonOfStatus(s memd.Status, o CouchbaseOperation) retry.Reason {
	if s == memd.StatusLocked && o.Name == "unlock" {
		return retry.ReasonUnknown
	}
	return statusReasons[s]
}
