package store

import (
	"strconv"
	"strings"
)

// ProfileName is the name of the collection in which a database's profiler writes. It is each member's own: no log has what happens to it.
const ProfileName = "system.profile"

// profileBytes is how large the collection may grow, if nobody has made a larger one.
const profileBytes = 1 << 20

// IsProfile reports whether a namespace is that of a profiler.
func IsProfile(ns string) bool {
	_, coll, _ := strings.Cut(ns, ".")
	return coll == ProfileName
}

// Profile returns the collection of a database's profiler, and makes it if there is none.
func (st *Store) Profile(db string) *Collection {
	ns := db + "." + ProfileName
	if st.Collections[ns] == nil {
		st.Collections[ns] = newCollection(&Definition{UUID: NewUUID(), Options: Options{Capped: true, Size: profileBytes}})
	}
	return st.Collections[ns]
}

// ApplyHere does what an entry says that no log has.
func (st *Store) ApplyHere(e *Entry) {
	st.collateBy(e)
	st.Collections.Apply(e)
	e.applied()
}

// Note adds a document to the collection of a profiler. It needs no _id. What is the oldest makes room for it.
func (c *Collection) Note(doc []byte) {
	key := "\xff" + strconv.FormatInt(c.last+1, 36) // no value has such a key
	c.put(key, doc)
	for r := c.Oldest(); c.Overflows() && r.Key != key; r = c.Oldest() {
		c.remove(r.Key)
	}
}
