package call

import (
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// https://www.mongodb.com/docs/manual/reference/system-collections/

// SystemPrefix begins the names of collections that are the server's own.
const SystemPrefix = "system."

// systemNames are the server's own collections that every database may have, and adminNames those that admin may have besides.
var (
	systemNames = []string{"system.js", "system.profile", "system.users", "system.views"}
	adminNames  = []string{"system.backup_users", "system.keys", "system.new_users", "system.roles", "system.version"}
)

// CheckSystemName refuses a name that is too long, and one that only the server's own collections have and that none of them
// has.
func CheckSystemName(db, coll string) error {
	if err := CheckLength(db, coll); err != nil {
		return err
	}
	switch {
	case !strings.HasPrefix(coll, SystemPrefix) || db == "config" || db == "local" || slices.Contains(systemNames, coll):
	case db == "admin" && slices.Contains(adminNames, coll):
	default:
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "Invalid system namespace: %s.%s", db, coll)
	}
	return nil
}

// CheckWritable refuses a collection into which no client writes.
func CheckWritable(db, coll string) error {
	if coll == "system.profile" || coll == "system.views" {
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "cannot write to %s.%s", db, coll)
	}
	return CheckSystemName(db, coll)
}

// CheckRenaming refuses to rename the server's own collections, and to give a collection such a name.
func CheckRenaming(from, to string) error {
	for _, full := range []string{from, to} {
		if _, coll, _ := strings.Cut(full, "."); coll == "system.js" || coll == "system.users" {
			return mongoerr.Errorf(mongoerr.IllegalOperation, "renaming %s collection or renaming to %[1]s is not allowed", coll)
		}
	}
	for i, full := range []string{from, to} {
		db, coll, _ := strings.Cut(full, ".")
		if err := CheckWritable(db, coll); err != nil {
			return mongoerr.Errorf(mongoerr.IllegalOperation, "error with %s namespace: %s", [...]string{"source", "target"}[i], mongoerr.From(err).Message)
		}
	}
	return nil
}

// CheckDropping refuses to drop a collection of the server's own that is there.
func CheckDropping(db, coll string) error {
	if coll == "system.users" || db == "admin" && slices.Contains(adminNames, coll) {
		return mongoerr.Errorf(mongoerr.IllegalOperation, "cannot drop system collection %s.%s", db, coll)
	}
	return nil
}
