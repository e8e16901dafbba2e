package command

import (
	"errors"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// Near implements pipeline.Source.
func (s *source) Near(db, coll, key string, near func() ([]byte, error), f *query.Filter, vars any) ([][]byte, error) {
	ns := db + "." + coll
	view, shown, err := viewOf(s.x, ns)
	if err != nil {
		return nil, err
	}
	if !view.Exists() || len(shown.stages) > 0 {
		return nil, mongoerr.Errorf(mongoerr.NamespaceNotFound, "$geoNear needs a collection to run, but %s does not exist", ns)
	}
	expression, err := near()
	if err == nil && key == "" {
		key, err = view.Def.GeoField(ns)
	}
	if err != nil {
		return nil, err
	}
	n, err := query.ParseNear(key, expression)
	if err != nil {
		return nil, err
	}
	return s.search(ns, &view, f.WithNear(n), vars)
}

// Text implements pipeline.Source.
func (s *source) Text(db, coll string, f *query.Filter, vars any) ([][]byte, error) {
	ns := db + "." + coll
	view, shown, err := viewOf(s.x, ns)
	switch {
	case err != nil:
		return nil, err
	case len(shown.stages) > 0:
		return nil, s.Fail(mongoerr.Errorf(17313, "$match with $text is only allowed as the first pipeline stage"))
	case !view.Exists():
		return nil, store.NoTextIndex(ns, true)
	}
	return s.search(ns, &view, f, vars)
}

// searchError is an error of the evaluation of documents, which is not that of the whole command.
type searchError struct{ error }

func (e searchError) Unwrap() error { return e.error }

func (s *source) search(ns string, view *store.View, f *query.Filter, vars any) ([][]byte, error) {
	by, err := s.searching(ns, view, f)
	if err != nil {
		return nil, err
	}
	if by.Flaw != nil {
		return nil, searchError{by.Flaw}
	}
	list, err := s.x.BySearch(view, f, &query.Matching{Vars: vars, Work: s.x.Work(), Text: by.Text})
	if err != nil {
		return nil, searchError{err}
	}
	s.countSearch(ns, by.Index)
	docs := make([][]byte, len(list))
	for i, found := range list {
		docs[i] = query.WithMeta(found.Record.Doc, found.Match.Found)
	}
	return docs, nil
}

// searching finds the index of a search. The hint is for the command's own collection.
func (s *source) searching(ns string, view *store.View, f *query.Filter) (store.Search, error) {
	h := &store.Hint{}
	if ns == s.x.Command.Full {
		h = &s.x.Result.Hint
	}
	if h.Natural != 0 {
		return store.Search{}, mongoerr.Errorf(mongoerr.BadValue, "geoNear expression not allowed with $natural hint")
	}
	hinted, err := h.Resolve(ns, &store.Collection{Def: view.Def})
	if err != nil {
		return store.Search{}, err
	}
	return view.Def.Searching(ns, f, h, hinted)
}

// Fail implements pipeline.Source.
func (s *source) Fail(err error) error {
	var evaluated searchError
	if !errors.As(err, &evaluated) {
		s.x.Result.Conflict = err
	}
	return err
}
