package fulltext

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// https://www.mongodb.com/docs/manual/core/indexes/index-types/index-text/

// Index says which texts of a document are searched.
type Index struct {
	Weights  map[string]float64 // by path
	Language string             // of texts that do not say otherwise
	Override string             // the field that says so
}

// everyField is the path that stands for all texts.
const everyField = "$**"

// LanguageError is the error about a document's own language.
type LanguageError struct {
	Name    string
	NotText bool // it is no string
	Known   bool // to the real server
}

func (e *LanguageError) Error() string {
	if e.NotText {
		return "found language override field in document with non-string type"
	}
	return "language override unsupported: " + e.Name
}

// text is one text of a document.
type text struct {
	value  string
	in     *Language
	weight float64
}

// walker visits the texts of one document.
type walker struct {
	*Index
	work  Work
	all   bool // every text
	visit func(t text) error
}

// texts calls visit with each text of a document. Its error may be a *LanguageError.
func (ix *Index) texts(doc []byte, w Work, visit func(t text) error) error {
	_, all := ix.Weights[everyField]
	l, _ := LanguageOf(ix.Language)
	if l == nil {
		return &LanguageError{Name: ix.Language, Known: true}
	}
	wk := walker{ix, w, all, visit}
	return wk.fields(doc, "", l, false)
}

func (w *walker) fields(doc []byte, parent string, in *Language, array bool) error {
	in, err := w.languageOf(doc, in)
	if err != nil {
		return err
	}
	it := wire.Elements(doc)
	for it.Next() {
		if err := w.work.Do(1); err != nil {
			return err
		}
		if w.all && string(it.Key) == w.Override {
			continue
		}
		path := parent
		switch {
		case !w.all && !array && strings.Contains(string(it.Key), "."):
			continue // no path leads to it
		case parent == "":
			path = string(it.Key)
		case !array:
			path = parent + "." + string(it.Key)
		}
		if err := w.value(&it.Element, path, in, array); err != nil {
			return err
		}
	}
	return it.Err
}

func (w *walker) value(e *wire.Element, path string, in *Language, inArray bool) error {
	weight, exact := w.Weights[path]
	if !exact {
		weight = 1
	}
	switch e.Type {
	case bson.TypeString:
		if exact || w.all {
			return w.visit(text{string(e.Text()), in, weight})
		}
	case bson.TypeEmbeddedDocument:
		if w.all || w.leads(path) {
			return w.fields(e.Value, path, in, false)
		}
	case bson.TypeArray:
		if w.all || !inArray && (exact || w.next(path)) {
			return w.fields(e.Value, path, in, true)
		}
	}
	return nil
}

// leads reports whether a path is the start of one that is searched.
func (ix *Index) leads(path string) bool {
	for name := range ix.Weights {
		if len(name) > len(path) && name[len(path)] == '.' && strings.HasPrefix(name, path) {
			return true
		}
	}
	return false
}

// next reports whether the first searched path that is not in front of this one begins with it. The real server looks at no other for an
// array, so that it does not find a.c in arrays if a-b is searched too.
func (ix *Index) next(path string) bool {
	first := ""
	for name := range ix.Weights {
		if name >= path && (first == "" || name < first) {
			first = name
		}
	}
	return strings.HasPrefix(first, path+".")
}

// languageOf returns the language of a document's texts.
func (w *walker) languageOf(doc []byte, in *Language) (*Language, error) {
	it := wire.Elements(doc)
	for it.Next() {
		if string(it.Key) != w.Override {
			continue
		}
		if it.Type != bson.TypeString {
			return nil, &LanguageError{NotText: true}
		}
		name := string(it.Text())
		own, known := LanguageOf(name)
		if own == nil {
			return nil, &LanguageError{Name: name, Known: known}
		}
		return own, nil
	}
	return in, nil
}

// Check returns why a document cannot be in the index, nil if it can. A language that the real server knows and this one does not is none.
func (ix *Index) Check(doc []byte) error {
	err := ix.texts(doc, noWork{}, func(text) error { return nil })
	if e, ok := err.(*LanguageError); ok && !e.Known { //nolint:errorlint // it is returned as it is
		return e
	}
	return nil
}

type noWork struct{}

func (noWork) Do(int) error { return nil }
