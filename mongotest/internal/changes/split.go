package changes

import (
	"cmp"
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/changeStreamSplitLargeEvent/

// split is an event that is returned in fragments.
type split struct {
	of        token    // of the event
	passed    int      // how many fragments of the first event the client has
	fragments [][]byte // that were not returned
	next      int      // the number of the first of these
}

const (
	maxReply = query.MaxDocumentSize + 16<<10 // a reply has room for so large an event
	maxEvent = query.MaxDocumentSize + 8<<10  // a larger one is split
)

// CheckSize refuses an event that no reply has room for.
func CheckSize(event []byte) error {
	if len(event) <= maxReply {
		return nil
	}
	return mongoerr.Errorf(mongoerr.BSONObjectTooLarge,
		"BSONObj size: %d (0x%X) is invalid. Size must be between 0 and %d(16MB) First element: _id: %s", len(event), len(event), maxReply,
		query.Lookup(event, "_id"))
}

// Split takes an event apart if it is large, and returns the first part that the client does not have. It returns nil if the client
// has all of them.
func (s *Stream) Split(event []byte) ([]byte, error) {
	passed := s.split.passed
	s.split.passed = 0
	if len(event) <= maxEvent {
		if passed > 0 {
			return nil, mongoerr.Errorf(mongoerr.ChangeStreamFatalError,
				"Attempted to resume from a split event fragment, but the event in the resumed stream was not large enough to be split")
		}
		return event, nil
	}
	fragments, err := s.split.of.fragments(event)
	if err != nil {
		return nil, err
	}
	if passed > len(fragments) {
		return nil, mongoerr.Errorf(mongoerr.ChangeStreamFatalError, "Attempted to resume from a split event, but the resumed stream produced a "+
			"different split. Ensure that the pipeline used to resume is the same as the original")
	}
	s.split.fragments, s.split.next = fragments[passed:], passed+1
	return s.Fragment(), nil
}

// Fragment returns the next fragment of the current event, nil if there is none.
func (s *Stream) Fragment() []byte {
	if len(s.split.fragments) == 0 {
		return nil
	}
	fragment := s.split.fragments[0]
	s.token = s.split.of.ofFragment(s.split.next).text()
	s.split.fragments = s.split.fragments[1:]
	s.split.next++
	return fragment
}

// ofFragment returns the token of a fragment of the token's event.
func (t token) ofFragment(number int) *token {
	t.fragment = number
	return &t
}

// fragments distributes the fields of an event, from the smallest to the largest, over documents of at most 16 MB.
func (t token) fragments(event []byte) ([][]byte, error) {
	fields := query.ObjectOf(event)
	fields = slices.DeleteFunc(fields, func(f query.Field) bool { return f.Name == "_id" })
	slices.SortStableFunc(fields, func(a, b query.Field) int {
		return cmp.Or(cmp.Compare(len(a.Value.Data)+len(a.Name), len(b.Value.Data)+len(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	var groups []query.Object
	size := query.MaxDocumentSize
	head := len(t.part(2, 2, nil))
	for _, f := range fields {
		own := len(f.Name) + len(f.Value.Data) + 2
		if size += own; size > query.MaxDocumentSize {
			groups = append(groups, nil)
			size = head + own
		}
		if size > query.MaxDocumentSize {
			return nil, mongoerr.Errorf(7182500, "Splitting change event failed: fragment size %d is greater than maximum allowed fragment size %d",
				size, query.MaxDocumentSize)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], f)
	}
	list := make([][]byte, len(groups))
	for i, group := range groups {
		list[i] = t.part(i+1, len(groups), group)
	}
	return list, nil
}

// part returns the fragment that has some of the event's fields.
func (t token) part(number, of int, fields query.Object) []byte {
	at, dst := wire.BeginDocument(nil)
	dst = wire.AppendDocument(dst, "_id", t.ofFragment(number).document())
	numbers, dst := wire.BeginEmbedded(dst, "splitEvent")
	dst = wire.EndDocument(wire.AppendInt32(wire.AppendInt32(dst, "fragment", int32(number)), "of", int32(of)), numbers)
	for _, f := range fields {
		dst = wire.AppendValue(dst, f.Name, f.Value.Type, f.Value.Data)
	}
	return wire.EndDocument(dst, at)
}
