package retry

import "slices"

// DatabaseReasons are the reasons of the packages that import this one. The tests of this package cannot import them, so
// databasereasons_test.go, which is outside the package, fills this in.
var DatabaseReasons struct{ Couchbase, OwnCouchbase, MongoDB []Reason }

// KnownReasons returns every reason of this package, then those that are Couchbase's or MongoDB's alone.
func KnownReasons() []Reason {
	all := GeneralReasons()
	for _, r := range slices.Concat(DatabaseReasons.Couchbase, DatabaseReasons.OwnCouchbase, DatabaseReasons.MongoDB) {
		if !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	return all
}
