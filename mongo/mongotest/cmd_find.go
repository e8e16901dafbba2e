package mongotest

import (
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/store"
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

func cmdFind(x *exec) error {
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
	if err := x.readingFor(&s); err != nil {
		return err
	}
	docs, err := x.searchLocked(&s)
	s.singleBatch = s.singleBatch || !x.result.onView && x.conn.member.data.Collections[x.command.full] == nil
	ends := s.ends(docs) && !x.result.onView
	x.conn.set.mu.Unlock()
	if x.result.onView {
		s.projection = nil
		docs, err = x.readView(&s.criteria, "filter", "projection")
	}
	if err != nil {
		return err
	}
	return x.replyCursor(docs, s.projection, cursorReply{size: s.batchSize, single: s.singleBatch, ends: ends, reads: true})
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
func (s *search) ends(docs [][]byte) bool {
	return s.sort != nil && s.sort.ByID() == 0 || s.filter.OnlyID() || s.limit > 0 && int64(len(docs)) == s.limit
}

// compileFind compiles what the command has of the language.
func (s *search) compileFind(x *exec, filter []byte, projection query.Value) error {
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
func (x *exec) projection(v query.Value, f *query.Filter) (*query.Projection, error) {
	hooks, err := x.hooks()
	if err != nil {
		return nil, err
	}
	return query.ParseProjection(v.Data, f, hooks)
}

// searchLocked returns what matches, sorted, skipped and limited.
func (x *exec) searchLocked(s *search) ([][]byte, error) {
	var docs [][]byte
	var keys map[*byte]string // of the documents, where they are asked for
	if s.returnKey || s.showRecordID {
		keys = make(map[*byte]string)
	}
	err := x.findLocked(x.command.name, &s.criteria, func(key string, doc []byte) bool {
		docs = append(docs, doc)
		if keys != nil {
			keys[&doc[0]] = key
		}
		enough := s.limit > 0 && int64(len(docs)) == s.skip+s.limit
		return !enough || s.sort != nil && !s.inOrder
	})
	if err != nil {
		return nil, err
	}
	if sort := s.order(); sort != nil {
		for _, doc := range docs {
			if err := sort.Check(doc); err != nil {
				return nil, x.executing(x.command.name, err)
			}
		}
		sort.Documents(docs)
	}
	docs = docs[min(s.skip, int64(len(docs))):]
	if s.limit > 0 {
		docs = docs[:min(s.limit, int64(len(docs)))]
	}
	if keys != nil {
		return x.describeLocked(s, docs, keys)
	}
	return docs, nil
}

// describeLocked puts what a find with returnKey or showRecordId returns in the place of documents.
func (x *exec) describeLocked(s *search, docs [][]byte, keys map[*byte]string) ([][]byte, error) {
	c, err := x.collectionLocked(x.command.full)
	if err != nil || c == nil {
		return nil, err
	}
	ix, err := s.hint.Resolve(x.command.full, c)
	if err != nil {
		return nil, err
	}
	if _, byID := s.filter.ID(); ix == nil && (byID || s.sort.Only("_id")) {
		ix = store.IDIndex
	}
	list := make([][]byte, len(docs))
	for i, doc := range docs {
		switch {
		case s.returnKey:
			list[i] = ix.KeyOf(doc, &s.hint)
			continue
		case s.projection == nil:
			list[i] = slices.Clone(doc)
		default:
			if list[i], err = s.projection.AppendWith(nil, doc, s.vars); err != nil {
				return nil, x.executing(x.command.name, err)
			}
		}
		list[i] = wire.EndDocument(wire.AppendInt64(list[i][:len(list[i])-1], "$recordId", c.ByKey[keys[&doc[0]]].ID), 0)
	}
	s.projection = nil
	return list, nil
}
