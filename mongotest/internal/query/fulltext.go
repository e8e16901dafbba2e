package query

import (
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// https://www.mongodb.com/docs/manual/reference/operator/query/text/

// TextSearch is the $text of a filter.
type TextSearch struct {
	Search    string
	Language  string // "" for that of the index
	Case      bool   // upper and lower case differ
	Diacritic bool   // letters with marks differ from those without
}

// Whole returns the search with the defaults of what it does not say; the language is that of the index.
func (t *TextSearch) Whole(language string) []byte {
	at, dst := wire.BeginDocument(nil)
	dst = wire.AppendString(wire.AppendString(dst, "$search", t.Search), "$language", cmp.Or(t.Language, language))
	return wire.EndDocument(wire.AppendBool(wire.AppendBool(dst, "$caseSensitive", t.Case), "$diacriticSensitive", t.Diacritic), at)
}

// textNode asks the index that the command found. Without one nothing matches.
type textNode struct{ *TextSearch }

func (n textNode) match(doc []byte, m *Matching) bool {
	if m == nil || m.Text == nil || m.err != nil {
		return false
	}
	found, ok, err := m.Text(doc, m.Work)
	if err != nil {
		m.err = err
		return false
	}
	if ok {
		m.Found.Score, m.Found.text = Double(found.Score), found
	}
	return ok
}

// text compiles $text.
func (p *filterParser) text(nodes []node, key string, v Value) ([]node, error) {
	switch {
	case p.array:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "$text is not allowed in this context")
	case p.inner || p.shown:
		return nil, p.misplaced(key)
	}
	if err := p.refusal(key); err != nil {
		return nil, err
	}
	if !p.searches.Text {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "$text is not allowed in this context")
	}
	p.counted.texts++
	t, err := parseText(v)
	p.counted.text = t
	return append(nodes, textNode{t}), err
}

func parseText(v Value) (*TextSearch, error) {
	if !v.IsDocument() {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "$text expects an object")
	}
	t := &TextSearch{}
	known := 0
	for _, f := range [...]struct {
		name string
		kind bson.Type
		take func(v Value)
	}{
		{"$search", bson.TypeString, func(v Value) { t.Search = string(v.Text()) }},
		{"$language", bson.TypeString, func(v Value) { t.Language = string(v.Text()) }},
		{"$caseSensitive", bson.TypeBoolean, func(v Value) { t.Case = v.True() }},
		{"$diacriticSensitive", bson.TypeBoolean, func(v Value) { t.Diacritic = v.True() }},
	} {
		v := Lookup(v.Data, f.name)
		switch {
		case v.Missing() && f.name == "$search":
			return nil, mongoerr.Errorf(mongoerr.NoSuchKey, `Missing expected field "$search"`)
		case v.Missing():
			continue
		case v.Type != f.kind:
			return nil, mongoerr.Errorf(mongoerr.TypeMismatch, `"%s" had the wrong type. Expected %s, found %s`, f.name, TypeName(f.kind), TypeName(v.Type))
		}
		f.take(v)
		known++
	}
	if known != len(ObjectOf(v.Data)) {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "extra fields in $text")
	}
	return t, nil
}

// Text returns the search for words of a filter, nil if it has none.
func (f *Filter) Text() *TextSearch { return f.text }

// TextFlaw returns why the filter's $text may not stand where it does, nil if it may.
func (f *Filter) TextFlaw() error { return f.flaw }

// BesideText returns, for each branch of an $or that has a $text in another branch, the paths of its conditions.
func (f *Filter) BesideText() [][]string {
	var all [][]string
	besideText(f.all, &all)
	return all
}

// besideText reports whether some conditions have a $text.
func besideText(nodes []node, all *[][]string) bool {
	found := false
	for _, n := range nodes {
		switch n := n.(type) {
		case textNode:
			found = true
		case orNode:
			has := func(branch []node) bool { return besideText(branch, all) }
			if !slices.ContainsFunc(n, has) {
				continue
			}
			found = true
			for _, branch := range n {
				if !besideText(branch, new([][]string)) {
					*all = append(*all, pathsOf(branch))
				}
			}
		}
	}
	return found
}

func pathsOf(nodes []node) []string {
	var paths []string
	for _, n := range nodes {
		if p, ok := n.(*pathNode); ok {
			paths = append(paths, dotted(p.path))
		}
	}
	return paths
}

// Asks reports whether a filter has a condition on a path that must hold.
func (f *Filter) Asks(path string) bool {
	_, byID := f.ID(f.collation)
	return slices.Contains(pathsOf(f.all), path) || byID && path == "_id"
}

// Fixed returns the value to which a filter says that a path must be equal, Missing if it does not say that.
func (f *Filter) Fixed(path string) Value {
	for _, n := range f.all {
		p, ok := n.(*pathNode)
		if !ok || dotted(p.path) != path {
			continue
		}
		if e, ok := p.condition.(*equality); ok {
			return e.value
		}
		if v := onlyValue(p.condition); !v.Missing() {
			return v
		}
	}
	return Value{}
}

// Before orders two documents as the index gives them: by the first word of the search that they have, then by its weight.
func (f *Found) Before(other *Found) int {
	a, b := f.text, other.text
	switch {
	case f.Score.Missing() != other.Score.Missing():
		return boolCompare(f.Score.Missing(), other.Score.Missing())
	case a.Rank != b.Rank:
		return a.Rank - b.Rank
	case a.Own != b.Own:
		return boolCompare(a.Own < b.Own, b.Own < a.Own)
	}
	return 0
}

// MetaFlaw returns why a value that belongs to documents may not be asked for after a search with this filter, nil if it may.
func (f *Filter) MetaFlaw(name string) error {
	switch {
	case f != nil && (name == TextScore && f.text != nil || name != TextScore && f.near != nil):
		return nil
	}
	return NoMeta(name)
}

// NoMeta is the error about a value that no search has found out.
func NoMeta(name string) error {
	what := map[string]string{
		TextScore: "text score", GeoNearDistance: "$geoNear distance", GeoNearPoint: "$geoNear point",
		"searchScore": "$search score", "vectorSearchScore": "$vectorSearch score",
	}[name]
	return mongoerr.Errorf(40218, "query requires %s metadata, but it is not available", what)
}

// MetaName reads the argument of a $meta.
func MetaName(v Value) (string, error) {
	name := string(v.Text())
	switch {
	case v.Type != bson.TypeString:
		return "", mongoerr.Errorf(17307, "$meta only supports string arguments")
	case !slices.Contains(metaNames, name):
		return "", mongoerr.Errorf(17308, "Unsupported $meta field: %s", name)
	case name == "searchScore" || name == "vectorSearchScore":
		return name, nil // no search finds it out
	case name != TextScore && name != GeoNearDistance && name != GeoNearPoint:
		return "", unsupported("the expression", "$meta: "+name)
	}
	return name, nil
}

// metaNames are those that the real server has.
var metaNames = []string{
	TextScore, "randVal", "searchScore", "searchHighlights", GeoNearDistance, GeoNearPoint, "recordId", "indexKey", "sortKey",
	"searchScoreDetails", "searchSequenceToken", "vectorSearchScore", "timeseriesBucketMinTime", "timeseriesBucketMaxTime", "score", "scoreDetails",
	"stream",
}
