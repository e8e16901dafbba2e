package command

import (
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/find/

// search is a parsed find.
type search struct {
	call.Criteria
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

func cmdFind(x *call.Call) error {
	if err := x.CollectionName(); err != nil {
		return err
	}
	s := search{batchSize: firstBatch}
	filter := query.EmptyDocument
	var projection query.Value
	for i := range x.Command.Args {
		var err error
		switch e := &x.Command.Args[i]; string(e.Key) {
		case "projection":
			projection = query.Of(*e)
		case "let":
			err = x.LetField("find", e)
		case "allowDiskUse":
			err = x.Since(4, 4, "find", "allowDiskUse")
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
		return tail(x, &s)
	}
	s.Hint.Sizes = s.sizes(!x.Arg("batchSize").Missing())
	if err := s.Hint.CheckBounds(); err != nil {
		return err
	}
	p, err := x.Look(&s.Criteria)
	if x.Result.OnView {
		return findInView(x, &s)
	}
	if err != nil {
		return err
	}
	docs, err := parseSearch(x, &s, p)
	if err != nil {
		return err
	}
	countUse(x, &s.Criteria, func() *explained { return s.toFind(x, filter) })
	return x.ReplyCursor(docs, s.projection, call.CursorReply{Size: s.batchSize, Single: s.singleBatch || !p.View.Exists(), Ends: s.ends(docs, p.View.Collation()), Reads: true})
}

func findInView(x *call.Call, s *search) error {
	docs, err := readView(x, &s.Criteria, "filter", "projection")
	if err != nil {
		return err
	}
	return x.ReplyCursor(docs, nil, call.CursorReply{Size: s.batchSize, Single: s.singleBatch, Reads: true})
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
	return s.Sort != nil && s.Sort.ByID() == 0 || s.Filter.OnlyID(of) || s.limit > 0 && int64(len(docs)) == s.limit
}

// compileFind compiles what the command has of the language.
func (s *search) compileFind(x *call.Call, filter []byte, projection query.Value) error {
	if projection.Missing() && !s.tailable {
		return s.Compile(x, filter)
	}
	projection.Data = slices.Clone(projection.Data) // the cursor may keep parts of both
	if err := s.Compile(x, slices.Clone(filter)); err != nil || projection.Missing() {
		return err
	}
	var err error
	s.projection, err = parseProjection(x, projection, &s.Filter)
	s.Vars = x.Result.Vars.Values
	return err
}

func (s *search) field(e *wire.Element, filter *[]byte) error {
	var err error
	switch string(e.Key) {
	case "filter":
		*filter = e.Value
		return query.CheckDocument(*filter)
	case "sort":
		err = s.ParseSort(e.Value)
	case "skip":
		s.skip, _ = e.Int64()
	case "limit":
		s.limit, _ = e.Int64()
	case "batchSize":
		s.batchSize, _ = e.Int64()
	case "singleBatch":
		s.singleBatch = e.True()
	case "hint":
		return s.Hint.Parse(e)
	case "tailable":
		s.tailable = e.True()
	case "awaitData":
		s.awaitData = e.True()
	case "oplogReplay":
		if e.Type != bson.TypeBoolean {
			err = mongoerr.Errorf(mongoerr.TypeMismatch, "Expected field oplogReplay to be of type bool")
		}
	case "collation":
		return s.ParseCollation(e)
	case "returnKey":
		s.returnKey = e.True()
	case "showRecordId":
		s.showRecordID = e.True()
	case "min", "max":
		return s.Hint.Bound(e)
	}
	return err
}

// parseProjection compiles a projection of what a filter matches, which a positional one refers to.
func parseProjection(x *call.Call, v query.Value, f *query.Filter) (*query.Projection, error) {
	hooks, err := x.Hooks()
	if err != nil {
		return nil, err
	}
	return query.ParseProjection(v.Data, f, hooks)
}

// parseSearch returns what matches in a scan, sorted, skipped and limited.
func parseSearch(x *call.Call, s *search, p call.Scan) ([][]byte, error) {
	list, err := matches(x, s, p)
	if err != nil {
		return nil, err
	}
	if sort := s.Order(); sort != nil && (len(list) > 1 || s.skip > 0 || !s.Filter.OnlyID(p.View.Collation())) { // one document with an _id is not sorted
		for _, r := range list {
			if err := sort.Check(r.Doc); err != nil {
				return nil, x.Executing(x.Command.Name, err)
			}
		}
		if err := query.SortBy(sort, x.Result.Match.Work, list, func(r *store.Record) []byte { return r.Doc }); err != nil {
			return nil, err
		}
	}
	list = list[min(s.skip, int64(len(list))):]
	if s.limit > 0 {
		list = list[:min(s.limit, int64(len(list)))]
	}
	if s.returnKey || s.showRecordID {
		return described(x, s, p, list)
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
func matches(x *call.Call, s *search, p call.Scan) (list []*store.Record, err error) {
	err = x.Find(x.Command.Name, &s.Criteria, p, func(r *store.Record) bool {
		if s.Searches() {
			r = &store.Record{Key: r.Key, Doc: query.WithMeta(r.Doc, x.Result.Match.Found), ID: r.ID}
		}
		list = append(list, r)
		enough := s.limit > 0 && int64(len(list)) == s.skip+s.limit
		return !enough || s.Sort != nil && !s.InOrder
	})
	return list, err
}

// described returns what a find with returnKey or showRecordId returns instead of documents.
func described(x *call.Call, s *search, p call.Scan, list []*store.Record) ([][]byte, error) {
	ix := p.Index
	if _, byID := s.Filter.ID(p.View.Collation()); p.View.Exists() && ix == nil && (byID || s.Sort.Only("_id")) {
		ix = p.View.Def.Indexes[0]
	}
	docs := make([][]byte, len(list))
	var err error
	for i, r := range list {
		switch {
		case s.returnKey:
			docs[i] = ix.KeyOf(r.Doc, &s.Hint)
			continue
		case s.projection == nil:
			docs[i] = slices.Clone(query.Plain(r.Doc))
		default:
			if docs[i], err = s.projection.AppendWith(nil, r.Doc, s.Vars); err != nil {
				return nil, x.Executing(x.Command.Name, err)
			}
		}
		docs[i] = wire.EndDocument(wire.AppendInt64(docs[i][:len(docs[i])-1], "$recordId", r.ID), 0)
	}
	s.projection = nil
	return docs, nil
}
