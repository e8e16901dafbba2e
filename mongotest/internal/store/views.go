package store

import (
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/collation"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// MaxViewDepth is how many views may read one another in a row.
const MaxViewDepth = 20

// IsView reports whether c is a view: a definition without documents of its own. A nil collection is none.
func (c *Collection) IsView() bool { return c != nil && c.Def.Options.ViewOn != "" }

// CheckView refuses a view that would read itself, directly or through other views, that would be too deep, or that does not have the collation of
// the views beside it.
func (c Catalog) CheckView(ns string, o *Options) error {
	views := make(map[string]*Options)
	for name, coll := range c {
		if coll.IsView() {
			views[name] = &coll.Def.Options
		}
	}
	views[ns] = o
	for _, name := range o.reads(ns) {
		if view := views[name]; view != nil && !collation.Same(o.Collation, view.Collation) {
			return mongoerr.Errorf(mongoerr.OptionNotSupportedOnView, "View %s has conflicting collation with view %s", ns, name)
		}
	}
	if path := cycle(views, ns, ns); path != nil {
		slices.Reverse(path)
		return mongoerr.Errorf(mongoerr.GraphContainsCycle, "View cycle detected: %s => %s", ns, strings.Join(path, " => "))
	}
	for name := range views {
		if height(views, name) > MaxViewDepth {
			return mongoerr.Errorf(mongoerr.ViewDepthLimitExceeded, "View depth limit exceeded; maximum depth is %d", MaxViewDepth)
		}
	}
	return checkReaders(views, ns)
}

// checkReaders refuses a view that is read by one with another collation.
func checkReaders(views map[string]*Options, ns string) error {
	for _, name := range slices.Sorted(maps.Keys(views)) {
		view := views[name]
		if slices.Contains(view.reads(name), ns) && !collation.Same(views[ns].Collation, view.Collation) {
			return mongoerr.Errorf(mongoerr.OptionNotSupportedOnView, "View %s has a collation that does not match the collation of view %s", ns, name)
		}
	}
	return nil
}

// cycle returns the path from one view to another, nil if there is none.
func cycle(views map[string]*Options, from, to string) []string {
	if views[from] == nil {
		return nil
	}
	for _, next := range views[from].reads(from) {
		if next == to {
			return []string{from, to}
		}
		if path := cycle(views, next, to); path != nil {
			return append([]string{from}, path...)
		}
	}
	return nil
}

// height returns how many views stand on one another from one on.
func height(views map[string]*Options, ns string) int {
	if views[ns] == nil {
		return 0
	}
	most := 0
	for _, next := range views[ns].reads(ns) {
		most = max(most, height(views, next))
	}
	return most + 1
}

// reads returns the namespaces that a view reads.
func (o *Options) reads(ns string) []string {
	db, _, _ := strings.Cut(ns, ".")
	list := []string{db + "." + o.ViewOn}
	for _, coll := range Joined(o.Pipeline) {
		list = append(list, db+"."+coll)
	}
	return list
}

// Joined returns the collections that stages read besides their input.
func Joined(doc []byte) []string {
	var list []string
	it := wire.Elements(doc)
	for it.Next() {
		v := query.Of(it.Element)
		coll := query.Value{}
		switch string(it.Key) {
		case "$lookup", "$graphLookup":
			coll = query.Lookup(v.Data, "from")
		case "$unionWith":
			if coll = v; v.IsDocument() {
				coll = query.Lookup(v.Data, "coll")
			}
		}
		if coll.Type == bson.TypeString {
			list = append(list, string(coll.Text()))
		}
		if v.IsDocument() || v.IsArray() {
			list = append(list, Joined(v.Data)...)
		}
	}
	return list
}

// NotOnView refuses a command that cannot be executed on a view.
func NotOnView(ns string) error {
	return mongoerr.Errorf(mongoerr.CommandNotSupportedOnView, "Namespace %s is a view, not a collection", ns)
}
