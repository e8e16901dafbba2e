package store

import (
	"errors"
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fulltext"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Search is what a filter with $near or $text needs of a collection's indexes. The zero value is that of any other filter.
type Search struct {
	Text func(doc []byte, w *query.Work) (fulltext.Result, bool, error)
	Flaw error // why the execution fails

	Index *Index
	Kind  string           // of the index's field of a $near
	Words *fulltext.Search // nil for a $near
	Asked []byte           // the whole $text, with the defaults of what it does not say
}

// Terms returns the words that a document has in the index of a $text, with their scores.
func (s *Search) Terms(doc []byte) (map[string]float64, error) {
	if s.Index.partial != nil && !s.Index.partial.Match(doc) {
		return nil, nil
	}
	terms, err := s.Index.text.Terms(doc, (*query.Work)(nil))
	return terms, textError(err)
}

// Prefixed reports whether the index of a $text has fields in front of the texts.
func (s *Search) Prefixed() bool { return s.Words != nil && len(s.Index.textPrefix()) > 0 }

// Searching finds the indexes that a filter's $near or $text needs, or returns why it cannot be answered.
func (d *Definition) Searching(ns string, f *query.Filter, h *Hint, hinted *Index) (Search, error) {
	switch {
	case f.Text() != nil:
		return d.textBy(ns, f, h)
	case f.Near() != nil:
		return d.nearBy(ns, f, h, hinted)
	}
	return Search{}, nil
}

// nearBy finds the index of a $near.
func (d *Definition) nearBy(ns string, f *query.Filter, h *Hint, hinted *Index) (Search, error) {
	near := f.Near()
	for _, kind := range near.Kinds() {
		for _, ix := range d.Indexes {
			if ix.Hidden || hinted != nil && hinted != ix || !ix.finds(f, near.Path(), kind) || !ix.fits(f) {
				continue
			}
			found := Search{Index: ix, Kind: kind}
			if kind == "2d" {
				found.Flaw = near.Flaw(ix.limit("min", -180), ix.limit("max", 180))
			}
			return found, nil
		}
	}
	return Search{}, h.noPlan("error enumerating plans for query", ns, near.Tree(), "unable to find index for $geoNear query")
}

// finds reports whether the index has a field of a kind that a filter can use: if it is not the first, the filter asks for the first.
func (ix *Index) finds(f *query.Filter, path, kind string) bool {
	it := wire.Elements(ix.Pattern)
	for n := 0; it.Next(); n++ {
		if string(it.Key) == path && string(it.Text()) == kind {
			return true
		}
		if n == 0 && !f.Asks(string(it.Key)) {
			return false
		}
	}
	return false
}

// fits reports whether a partial index has every document that a filter asks for, as far as the filter's conditions are on the same paths.
func (ix *Index) fits(f *query.Filter) bool {
	if ix.partial == nil {
		return true
	}
	for it := wire.Elements(query.Lookup(ix.Raw, "partialFilterExpression").Data); it.Next(); {
		path := string(it.Key)
		if path[0] != '$' && !f.Asks(path) {
			return false
		}
		fixed := f.Fixed(path)
		if fixed.Missing() {
			continue
		}
		if one, err := query.ParseFilter(query.Object{{Name: path, Value: query.Of(it.Element)}}.Bytes()); err == nil && !one.Match(documentWith(path, fixed)) {
			return false
		}
	}
	return true
}

// documentWith returns a document with a value at a path.
func documentWith(path string, v query.Value) []byte {
	names := strings.Split(path, ".")
	for _, name := range slices.Backward(names) {
		v = query.Object{{Name: name, Value: v}}.Document()
	}
	return v.Data
}

// noPlan is the error of planning a search.
func (h *Hint) noPlan(during, ns, tree, text string) error {
	return mongoerr.Errorf(mongoerr.NoQueryExecutionPlans, "%s: ns=%s%s%s planner returned error :: caused by :: %s", during, ns, h.Sizes, tree, text)
}

// NoTextIndex is the error of a $text without an index. missing tells that there is no collection.
func NoTextIndex(ns string, missing bool) error {
	where := ""
	if missing {
		where = " (no such collection '" + ns + "')"
	}
	return mongoerr.Errorf(mongoerr.IndexNotFound, "text index required for $text query%s", where)
}

// textIndex returns the text index, nil if there is none.
func (d *Definition) textIndex() *Index {
	i := slices.IndexFunc(d.Indexes, func(ix *Index) bool { return ix.plugin == "text" && !ix.Hidden })
	if i < 0 {
		return nil
	}
	return d.Indexes[i]
}

const textTree = "Tree: TEXT\nSort: {}\nProj: {}\n"

// textBy finds the index of a $text.
func (d *Definition) textBy(ns string, f *query.Filter, h *Hint) (Search, error) {
	ix := d.textIndex()
	if ix == nil {
		return Search{}, NoTextIndex(ns, false)
	}
	if err := f.TextFlaw(); err != nil {
		return Search{}, err
	}
	search, err := ix.compile(f.Text())
	if err != nil {
		return Search{}, err
	}
	beside := f.BesideText()
	during := "error enumerating plans for query"
	if len(beside) > 0 {
		during = "error processing query"
	}
	if !ix.fits(f) || slices.ContainsFunc(ix.textPrefix(), func(path string) bool { return f.Fixed(path).Missing() }) {
		return Search{}, h.noPlan(during, ns, textTree,
			"failed to use text index to satisfy $text query (if text index is compound, are equality predicates given for all prefix fields?)")
	}
	for _, paths := range beside {
		if !slices.ContainsFunc(paths, d.leads) {
			return Search{}, h.noPlan("error processing query", ns, textTree,
				"Failed to produce a solution for TEXT under OR - other non-TEXT clauses under OR have to be indexed as well.")
		}
	}
	return Search{Index: ix, Words: search, Asked: f.Text().Whole(ix.text.Language), Text: func(doc []byte, w *query.Work) (fulltext.Result, bool, error) {
		if ix.partial != nil && !ix.partial.Match(doc) {
			return fulltext.Result{}, false, nil
		}
		found, ok, err := search.Match(ix.text, doc, w)
		return found, ok, textError(err)
	}}, nil
}

// compile compiles a search in the index's texts.
func (ix *Index) compile(t *query.TextSearch) (*fulltext.Search, error) {
	name := t.Language
	if name == "" {
		name = ix.text.Language
	}
	l, known := fulltext.LanguageOf(name)
	switch {
	case !known:
		return nil, mongoerr.Errorf(mongoerr.BadValue, `unsupported language: "%s" for text index version %d`, name, ix.textVersion())
	case l == nil:
		return nil, noStems(name)
	case ix.textVersion() != newestText:
		return nil, mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: $text with a text index of version %d is not supported", ix.textVersion())
	}
	return fulltext.NewSearch(t.Search, l, t.Case, t.Diacritic), nil
}

const newestText = 3

func (ix *Index) textVersion() int {
	return query.Lookup(ix.Raw, "textIndexVersion").Clamped32()
}

func noStems(language string) error {
	return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: $text in the language '%s' is not supported", language)
}

// textError makes a reply's error of one about the language of a document.
func textError(err error) error {
	var e *fulltext.LanguageError
	switch {
	case !errors.As(err, &e):
		return err
	case e.NotText:
		return mongoerr.Errorf(17261, "%s", e.Error())
	case e.Known:
		return noStems(e.Name)
	}
	return mongoerr.Errorf(17262, "%s", e.Error())
}

// leads reports whether an index begins with a path.
func (d *Definition) leads(path string) bool {
	return slices.ContainsFunc(d.Indexes, func(ix *Index) bool {
		names := fieldNames(ix.Pattern)
		return ix.Ordered() && !ix.Hidden && len(names) > 0 && names[0] == path
	})
}

// textPrefix returns the fields of a text index in front of the texts.
func (ix *Index) textPrefix() []string {
	names := fieldNames(ix.Pattern)
	return names[:max(0, slices.Index(names, "_fts"))]
}

// GeoField returns the one field that $geoNear searches without a key, or why there is not one.
func (d *Definition) GeoField(ns string) (string, error) {
	for _, kind := range []string{"2d", "2dsphere"} {
		var fields []string
		for _, ix := range d.Indexes {
			it := wire.Elements(ix.Pattern)
			for it.Next() {
				if !ix.Hidden && string(it.Text()) == kind {
					fields = append(fields, string(it.Key))
				}
			}
		}
		switch len(fields) {
		case 0:
			continue
		case 1:
			return fields[0], nil
		}
		return "", mongoerr.Errorf(mongoerr.IndexNotFound, "There is more than one %s index on %s; unsure which to use for $geoNear", kind, ns)
	}
	return "", mongoerr.Errorf(mongoerr.IndexNotFound, "$geoNear requires a 2d or 2dsphere index, but none were found")
}
