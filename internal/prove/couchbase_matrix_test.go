package prove

import (
	"testing"
	"testing/synctest"
)

// TestTheWholeMatrixOfCouchbase runs the whole matrix on the fake clock.
func TestTheWholeMatrixOfCouchbase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runMatrix(t, wholeMatrix(t, CouchbaseMemory()).withoutMixed())
	})
}
