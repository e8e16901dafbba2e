package mongotest

import (
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/find/

// search is a parsed find.
type search struct {
	criteria
	projection   *query.Projection
	skip, limit  int64
	batchSize    int64
	singleBatch  bool
	returnKey    bool
	showRecordID bool
	tailable     bool
	awaitData    bool
}

// firstBatch is how many documents the first batch of a find has unless the command says otherwise.
const firstBatch = 101

func cmdFind(x *call) error {
	if err := x.collectionName(); err != nil {
		return err
	}
	s := search{batchSize: firstBatch}
	filter := query.EmptyDocument
	var projection query.Value
	for i := range x.command.args {
		var err error
		switch e := &x.command.args[i]; string(e.Key) {
		case "projection":
			projection = query.Of(*e)
		case "let":
			err = x.letField("find", e)
		case "allowDiskUse":
			err = x.since(4, 4, "find", "allowDiskUse")
		default:
			err = s.field(e, &filter)
		}
		if err != nil {
			return err
		}
	}
	if err := s.compileFind(x, filter, projection); err != nil {
		return err
	}
	if s.tailable || s.awaitData {
		return x.tail(&s)
	}
	s.hint.Sizes = s.sizes(!x.arg("batchSize").Missing())
	if err := s.hint.CheckBounds(); err != nil {
		return err
	}
	p, err := x.look(&s.criteria)
	if x.result.onView {
		return x.findInView(&s)
	}
	if err != nil {
		return err
	}
	docs, err := x.search(&s, p)
	if err != nil {
		return err
	}
	return x.replyCursor(docs, s.projection, cursorReply{size: s.batchSize, single: s.singleBatch || !p.view.Exists(), ends: s.ends(docs, p.view.Collation()), reads: true})
}

func (x *call) findInView(s *search) error {
	docs, err := x.readView(&s.criteria, "filter", "projection")
	if err != nil {
		return err
	}
	return x.replyCursor(docs, nil, cursorReply{size: s.batchSize, single: s.singleBatch, reads: true})
}

// sizes writes how much of the result is asked for.
func (s *search) sizes(batch bool) string {
	text := ""
	if batch {
		text += fmt.Sprintf(" batchSize=%d", s.batchSize)
	}
	if s.limit > 0 {
		text += fmt.Sprintf(" limit=%d", s.limit)
	}
	if s.skip > 0 {
		text += fmt.Sprintf(" skip=%d", s.skip)
	}
	return text
}

// ends reports whether the real server knows without looking further that the result ends: it was sorted, its limit is
// reached, or its _id is.
func (s *search) ends(docs [][]byte, of query.Collation) bool {
	return s.sort != nil && s.sort.ByID() == 0 || s.filter.OnlyID(of) || s.limit > 0 && int64(len(docs)) == s.limit
}

// compileFind compiles what the command has of the language.
func (s *search) compileFind(x *call, filter []byte, projection query.Value) error {
	if projection.Missing() && !s.tailable {
		return s.compile(x, filter)
	}
	projection.Data = slices.Clone(projection.Data) // the cursor may keep parts of both
	if err := s.compile(x, slices.Clone(filter)); err != nil || projection.Missing() {
		return err
	}
	var err error
	s.projection, err = x.projection(projection, &s.filter)
	s.vars = x.result.vars.values
	return err
}

func (s *search) field(e *wire.Element, filter *[]byte) error {
	var err error
	switch string(e.Key) {
	case "filter":
		*filter = e.Value
		return query.CheckDocument(*filter)
	case "sort":
		err = s.parseSort(e.Value)
	case "skip":
		s.skip, _ = e.Int64()
	case "limit":
		s.limit, _ = e.Int64()
	case "batchSize":
		s.batchSize, _ = e.Int64()
	case "singleBatch":
		s.singleBatch = e.True()
	case "hint":
		return s.hint.Parse(e)
	case "tailable":
		s.tailable = e.True()
	case "awaitData":
		s.awaitData = e.True()
	case "oplogReplay":
		if e.Type != bson.TypeBoolean {
			err = mongoerr.Errorf(mongoerr.TypeMismatch, "Expected field oplogReplay to be of type bool")
		}
	case "collation":
		return s.parseCollation(e)
	case "returnKey":
		s.returnKey = e.True()
	case "showRecordId":
		s.showRecordID = e.True()
	case "min", "max":
		return s.hint.Bound(e)
	}
	return err
}

// projection compiles a projection of what a filter matches, which a positional one refers to.
func (x *call) projection(v query.Value, f *query.Filter) (*query.Projection, error) {
	hooks, err := x.hooks()
	if err != nil {
		return nil, err
	}
	return query.ParseProjection(v.Data, f, hooks)
}

// search returns what matches in a scan, sorted, skipped and limited.
func (x *call) search(s *search, p scan) ([][]byte, error) {
	list, err := x.matches(s, p)
	if err != nil {
		return nil, err
	}
	if sort := s.order(); sort != nil && (len(list) > 1 || s.skip > 0 || !s.filter.OnlyID(p.view.Collation())) { // one document with an _id is not sorted
		for _, r := range list {
			if err := sort.Check(r.Doc); err != nil {
				return nil, x.executing(x.command.name, err)
			}
		}
		if err := query.SortBy(sort, x.result.match.Work, list, func(r *store.Record) []byte { return r.Doc }); err != nil {
			return nil, err
		}
	}
	list = list[min(s.skip, int64(len(list))):]
	if s.limit > 0 {
		list = list[:min(s.limit, int64(len(list)))]
	}
	if s.returnKey || s.showRecordID {
		return x.described(s, p, list)
	}
	docs := make([][]byte, len(list))
	for i, r := range list {
		if docs[i] = r.Doc; s.projection == nil {
			docs[i] = query.Plain(r.Doc)
		}
	}
	return docs, nil
}

// matches returns what matches in a scan, as much of it as the search needs.
func (x *call) matches(s *search, p scan) (list []*store.Record, err error) {
	err = x.find(x.command.name, &s.criteria, p, func(r *store.Record) bool {
		if s.searches() {
			r = &store.Record{Key: r.Key, Doc: query.WithMeta(r.Doc, x.result.match.Found), ID: r.ID}
		}
		list = append(list, r)
		enough := s.limit > 0 && int64(len(list)) == s.skip+s.limit
		return !enough || s.sort != nil && !s.inOrder
	})
	return list, err
}

// described returns what a find with returnKey or showRecordId returns instead of documents.
func (x *call) described(s *search, p scan, list []*store.Record) ([][]byte, error) {
	ix := p.index
	if _, byID := s.filter.ID(p.view.Collation()); p.view.Exists() && ix == nil && (byID || s.sort.Only("_id")) {
		ix = p.view.Def.Indexes[0]
	}
	docs := make([][]byte, len(list))
	var err error
	for i, r := range list {
		switch {
		case s.returnKey:
			docs[i] = ix.KeyOf(r.Doc, &s.hint)
			continue
		case s.projection == nil:
			docs[i] = slices.Clone(query.Plain(r.Doc))
		default:
			if docs[i], err = s.projection.AppendWith(nil, r.Doc, s.vars); err != nil {
				return nil, x.executing(x.command.name, err)
			}
		}
		docs[i] = wire.EndDocument(wire.AppendInt64(docs[i][:len(docs[i])-1], "$recordId", r.ID), 0)
	}
	s.projection = nil
	return docs, nil
}
