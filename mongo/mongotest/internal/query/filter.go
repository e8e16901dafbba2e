package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/wire"
)

// Filter is a compiled query filter.
type Filter struct {
	all  []node
	id   Value // of {_id: value}
	only bool  // the filter is that and nothing else
}

// node is one condition on a whole document.
type node interface{ match(doc []byte) bool }

// ParseFilter compiles a filter document. It keeps parts of doc, which must not change afterwards.
func ParseFilter(doc []byte) (*Filter, error) {
	f := &Filter{}
	if err := f.Parse(doc); err != nil {
		return nil, err
	}
	return f, nil
}

// Parse compiles a filter document into f, replacing what was there. It keeps parts of doc.
func (f *Filter) Parse(doc []byte) error {
	*f = Filter{all: f.all[:0]}
	if f.parseID(doc) {
		return nil
	}
	nodes, err := parseFilter(doc, f.all)
	if err != nil {
		return err
	}
	f.all = nodes
	for _, n := range nodes {
		if p, ok := n.(*pathNode); ok && len(p.path) == 1 && p.path[0] == "_id" && len(p.conditions) == 1 {
			if e, ok := p.conditions[0].(*equality); ok {
				f.id = e.value
			}
		}
	}
	return nil
}

// parseID recognizes {_id: value} without compiling anything.
func (f *Filter) parseID(doc []byte) bool {
	it := wire.Elements(doc)
	if !it.Next() || string(it.Key) != "_id" || !plainID(Of(it.Element)) {
		return false
	}
	v := Of(it.Element)
	if it.Next() || it.Err != nil {
		return false
	}
	f.id, f.only = v, true
	return true
}

// plainID tells whether an _id in a filter is a value to look up, not an expression.
func plainID(v Value) bool {
	switch v.Type {
	case bson.TypeRegex, bson.TypeArray, bson.TypeNull, bson.TypeUndefined:
		return false
	case bson.TypeEmbeddedDocument:
		it := wire.Elements(v.Data)
		return !it.Next() || len(it.Key) == 0 || it.Key[0] != '$'
	}
	return true
}

// ID returns the _id that a matching document must have, if the filter names one.
func (f *Filter) ID() (Value, bool) {
	return f.id, !f.id.Missing() && plainID(f.id)
}

// Match tells whether a document matches.
func (f *Filter) Match(doc []byte) bool {
	if f.only {
		return Equal(Lookup(doc, "_id"), f.id)
	}
	for _, n := range f.all {
		if !n.match(doc) {
			return false
		}
	}
	return true
}

func parseFilter(doc []byte, nodes []node) ([]node, error) {
	it := wire.Elements(doc)
	for it.Next() {
		n, err := parseNode(string(it.Key), Of(it.Element))
		if err != nil {
			return nil, err
		}
		if n != nil {
			nodes = append(nodes, n)
		}
	}
	return nodes, it.Err
}

func parseNode(key string, v Value) (node, error) {
	if key != "" && key[0] == '$' {
		return parseTopLevel(key, v)
	}
	conditions, err := parseConditions(v)
	if err != nil {
		return nil, err
	}
	return &pathNode{path: splitPath(key), conditions: conditions}, nil
}

func parseTopLevel(key string, v Value) (node, error) {
	switch key {
	case "$and":
		return parseList(key, v, func(l [][]node) node { return andNode(l) })
	case "$or":
		return parseList(key, v, func(l [][]node) node { return orNode(l) })
	case "$nor":
		return parseList(key, v, func(l [][]node) node { return norNode(l) })
	case "$comment":
		return nil, nil
	case "$expr", "$where", "$text", "$jsonSchema", "$sampleRate", "$alwaysTrue", "$alwaysFalse":
		return nil, unsupported("the query operator", key)
	}
	return nil, fail(BadValue, "unknown top level operator: %s. If you have a field name that starts with a '$' symbol, "+
		"consider using $getField or $setField.", key)
}

func parseList(key string, v Value, build func([][]node) node) (node, error) {
	if !v.IsArray() {
		return nil, fail(BadValue, "%s must be an array", key)
	}
	var list [][]node
	for _, e := range v.elements() {
		if !e.IsDocument() {
			return nil, fail(BadValue, "$or/$and/$nor entries need to be full objects")
		}
		nodes, err := parseFilter(e.Data, nil)
		if err != nil {
			return nil, err
		}
		list = append(list, nodes)
	}
	if len(list) == 0 {
		return nil, fail(BadValue, "$and/$or/$nor must be a nonempty array")
	}
	return build(list), nil
}

type (
	andNode [][]node
	orNode  [][]node
	norNode [][]node
)

func matchAll(nodes []node, doc []byte) bool {
	for _, n := range nodes {
		if !n.match(doc) {
			return false
		}
	}
	return true
}

func (n andNode) match(doc []byte) bool {
	for _, part := range n {
		if !matchAll(part, doc) {
			return false
		}
	}
	return true
}

func (n orNode) match(doc []byte) bool {
	for _, part := range n {
		if matchAll(part, doc) {
			return true
		}
	}
	return false
}

func (n norNode) match(doc []byte) bool { return !orNode(n).match(doc) }

// pathNode holds the conditions on one path; every one must be met, each perhaps by another value on the path.
type pathNode struct {
	path       path
	conditions []condition
}

func (n *pathNode) match(doc []byte) bool {
	for _, c := range n.conditions {
		if !c.onPath(n.path, doc) {
			return false
		}
	}
	return true
}

// And returns a filter that matches what all of several do.
func And(filters []Filter) Filter {
	var all Filter
	for i := range filters {
		all.all = append(all.all, &filters[i])
	}
	return all
}

func (f *Filter) match(doc []byte) bool { return f.Match(doc) }
