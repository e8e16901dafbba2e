package store

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// indexState is what a collection knows of one of its indexes since that was built.
type indexState struct {
	*Index
	use    IndexUse
	marks  [][]bool   // of each path, the names at which some document has had an array
	arrays [][]string // the same as the beginnings of the path. It never changes: another list takes its place
}

// buildStates makes the states of the definition's indexes: those that were there under the same name keep theirs, as the real
// server's do when an index is hidden or made unique.
func (c *Collection) buildStates() {
	list := make([]*indexState, len(c.Def.Indexes))
	for i, ix := range c.Def.Indexes {
		if list[i] = c.stateOf(ix.Name); list[i] == nil {
			list[i] = c.newState(ix)
		}
		list[i].Index = ix
	}
	c.states, c.choices = list, nil
}

// stateOf returns the state of the index with a name, nil if there is none.
func (c *Collection) stateOf(name string) *indexState {
	for _, s := range c.states {
		if s.Name == name {
			return s
		}
	}
	return nil
}

func (c *Collection) newState(ix *Index) *indexState {
	s := newIndexState(ix)
	if s.marks != nil {
		c.Scan(func(r *Record) bool {
			s.mark(r.Doc)
			return true
		})
	}
	return s
}

func newIndexState(ix *Index) *indexState {
	s := &indexState{Index: ix, use: IndexUse{Since: time.Now()}}
	if ix.marksArrays() {
		s.arrays = make([][]string, len(ix.Paths))
		for _, path := range ix.Paths {
			s.marks = append(s.marks, make([]bool, len(path)))
		}
	}
	return s
}

// marksArrays reports whether plans depend on arrays at the fields of the index.
func (ix *Index) marksArrays() bool { return (ix.Ordered() || ix.ofPlaces()) && !ix.OfID }

// https://www.mongodb.com/docs/manual/core/indexes/index-types/index-multikey/

// markArrays notes the arrays of a document that is stored. Most have none, which is quickly seen: the byte of their type is nowhere.
func (c *Collection) markArrays(doc []byte) {
	if bytes.IndexByte(doc, byte(bson.TypeArray)) < 0 {
		return
	}
	for _, s := range c.states {
		s.mark(doc)
	}
}

// mark notes the arrays of a document. None is forgotten until the index is built again.
func (s *indexState) mark(doc []byte) {
	for i, marks := range s.marks {
		if s.ofPlaces() && s.isPlace(i) {
			s.markPlaces(i, doc)
			continue
		}
		if !slices.Contains(marks, false) || !hasNewArray(marks, s.Paths[i], doc) || s.partial != nil && !s.partial.Match(doc) {
			continue
		}
		markArrays(marks, s.Paths[i], doc)
		s.arrays = slices.Clone(s.arrays)
		s.arrays[i] = beginnings(marks, s.Paths[i])
	}
}

// hasNewArray reports whether a document has an array on a path at a name that is not marked.
func hasNewArray(marks []bool, path []string, doc []byte) bool {
	if len(path) == 0 {
		return false
	}
	switch v := query.Lookup(doc, path[0]); {
	case v.IsDocument():
		return hasNewArray(marks[1:], path[1:], v.Data)
	case v.IsArray():
		return !marks[0] || slices.ContainsFunc(query.Elements(v.Data), func(e query.Value) bool {
			return e.IsDocument() && hasNewArray(marks[1:], path[1:], e.Data)
		})
	}
	return false
}

func markArrays(marks []bool, path []string, doc []byte) {
	if len(path) == 0 {
		return
	}
	switch v := query.Lookup(doc, path[0]); {
	case v.IsDocument():
		markArrays(marks[1:], path[1:], v.Data)
	case v.IsArray():
		marks[0] = true
		for _, e := range query.Elements(v.Data) {
			if e.IsDocument() {
				markArrays(marks[1:], path[1:], e.Data)
			}
		}
	}
}

// beginnings returns the parts of a path, each from its begin, that end with a marked name.
func beginnings(marks []bool, path []string) []string {
	var list []string
	for i, marked := range marks {
		if marked {
			list = append(list, strings.Join(path[:i+1], "."))
		}
	}
	return list
}

// Arrays returns, for each index and each of its fields, the beginnings of the field's path at which some document has had an array
// since the index was built. A copy for a transaction or a snapshot has those of its own documents, as have buckets.
func (c *Collection) Arrays() [][][]string {
	if c.states == nil || c.Def.Options.Timeseries != nil {
		return ArraysOf(c.Def.Indexes, c.Scan)
	}
	list := make([][][]string, len(c.states))
	for i, s := range c.states {
		list[i] = s.arrays
	}
	return list
}

// ArraysOf returns what Collection.Arrays does for indexes that are built over the documents that scan visits.
func ArraysOf(indexes []*Index, scan func(visit func(r *Record) bool)) [][][]string {
	states := make([]*indexState, len(indexes))
	for i, ix := range indexes {
		states[i] = newIndexState(ix)
	}
	scan(func(r *Record) bool {
		for _, s := range states {
			s.mark(r.Doc)
		}
		return true
	})
	list := make([][][]string, len(states))
	for i, s := range states {
		list[i] = s.arrays
	}
	return list
}
