package mongotest

import (
	"fmt"
	"strings"
)

// splitNamespace takes "database.collection" apart.
func splitNamespace(ns string) (db, coll string, err error) {
	db, coll, _ = strings.Cut(ns, ".")
	if db == "" || coll == "" {
		err = fmt.Errorf("mongotest: the namespace %q is not database.collection", ns)
	}
	return db, coll, err
}
