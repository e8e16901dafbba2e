package mongotest_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongotest"
)

// TestWhatTheREADMESaysIsNotThere runs each command of the README's section "Not there" at the newest servers.
func TestWhatTheREADMESaysIsNotThere(t *testing.T) {
	rs := mongotest.RunShardedT(t, 1, 1, mongotest.InMemory(), mongotest.Version("9.0"))
	clients := map[string]*rawClient{"member": dial(t, rs, 0), "mongos": front(t, rs, 0)}
	n := 0
	for _, row := range regexp.MustCompile("(?m)`([^`]*)` \\| 59 \\|$").FindAllStringSubmatch(section(t, "Not there"), -1) {
		for _, name := range strings.Fields(row[1]) {
			n++
			for where, c := range clients {
				if got := c.run(`{"%s": 1, "$db": "admin"}`, name); number(got, "code") != 59 {
					t.Errorf("%s at a %s: %v", name, where, got)
				}
			}
		}
	}
	if n < 40 {
		t.Errorf("the section has %d commands", n)
	}
}

// TestWhatIsRefusedByName runs what the section says is refused with error 238.
func TestWhatIsRefusedByName(t *testing.T) {
	c := dial(t, mongotest.RunStandaloneT(t, mongotest.InMemory(), mongotest.Version("9.0")), 0)
	c.ok(`{"insert": "c", "documents": [{"_id": 1, "t": "x"}], "$db": "test"}`)
	c.ok(`{"createIndexes": "c", "indexes": [{"key": {"t": "text"}, "name": "t"}], "$db": "test"}`)
	const winding = `{"g": {"$geoWithin": {"$geometry": {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]], ` +
		`"crs": {"type": "name", "properties": {"name": "urn:x-mongodb:crs:strictwinding:EPSG:4326"}}}}}}`
	for command, names := range map[string]string{
		`"aggregate": "c", "pipeline": [{"$rankFusion": {}}], "cursor": {}`:                       "$rankFusion",
		`"aggregate": "c", "pipeline": [{"$scoreFusion": {}}], "cursor": {}`:                      "$scoreFusion",
		`"aggregate": "c", "pipeline": [{"$score": {}}], "cursor": {}`:                            "$score",
		`"aggregate": 1, "pipeline": [{"$listClusterCatalog": {}}], "cursor": {}`:                 "$listClusterCatalog",
		`"aggregate": "c", "pipeline": [{"$listCatalog": {}}], "cursor": {}`:                      "$listCatalog",
		`"aggregate": 1, "pipeline": [{"$queryStats": {}}], "cursor": {}`:                         "$queryStats",
		`"aggregate": "c", "pipeline": [{"$collStats": {"latencyStats": {}}}], "cursor": {}`:      "latencyStats",
		`"aggregate": "c", "pipeline": [{"$collStats": {"queryExecStats": {}}}], "cursor": {}`:    "queryExecStats",
		`"aggregate": "c", "pipeline": [{"$set": {"h": {"$toHashedIndexKey": 1}}}], "cursor": {}`: "$toHashedIndexKey",
		`"find": "c", "filter": ` + winding:                                                       "strictwinding",
		`"find": "c", "filter": {"$text": {"$search": "haus", "$language": "german"}}`:            "german",
	} {
		got := c.run(`{%s, "$db": "test"}`, command)
		if message, _ := got.Lookup("errmsg").StringValueOK(); number(got, "code") != 238 || !strings.Contains(message, "mongotest: ") || !strings.Contains(message, names) {
			t.Errorf("%s: %v", command, got)
		}
	}
}
