package prove

import (
	"testing"
	"testing/synctest"
)

// TestTheWholeMatrixOfCouchbase runs the whole matrix on the fake clock.
func TestTheWholeMatrixOfCouchbase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := wholeMatrix(t, CouchbaseMemory())
		if !*wholeFlag {
			m.Settings.Size.ClusterHits = 2 // one at each moment: a fault keeps others away for a thousand operations
		}
		for _, square := range m.without(isMixed).chequered() {
			runMatrix(t, square)
		}
	})
}
