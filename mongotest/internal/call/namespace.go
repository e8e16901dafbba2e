package call

import (
	"fmt"
	"strings"
)

// SplitNamespace takes "database.collection" apart.
func SplitNamespace(ns string) (db, coll string, err error) {
	db, coll, _ = strings.Cut(ns, ".")
	if db == "" || coll == "" {
		err = fmt.Errorf("mongotest: the namespace %q is not database.collection", ns)
	}
	return db, coll, err
}
