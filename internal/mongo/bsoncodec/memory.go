package bsoncodec

import "go.mongodb.org/mongo-driver/v2/bson"

// memory is what a decoder remembers of the documents before, so that documents with common keys take less time and
// fewer allocations. A nil *memory remembers nothing.
type memory struct {
	seen [128]string // keys, by a hash
	// order has the keys that the documents inside the last document had, in the order in which they were decoded, and
	// next is the index of the one that is expected next.
	order []string
	next  int
	// unfinished has the elements that were decoded of the documents that are not complete yet.
	unfinished []bson.E
}

const (
	longestSharedKey = 32
	longestOrder     = 1024
)

// begin prepares m for the next document.
func (m *memory) begin() {
	if m != nil {
		m.next, m.unfinished = 0, m.unfinished[:0]
	}
}

// key returns the next element's key. It does not advance r.
func (m *memory) key(r *reader) string {
	if m == nil {
		return string(r.key())
	}
	if m.next < len(m.order) {
		if key := m.order[m.next]; r.at(key) {
			m.next++
			return key
		}
	}
	key := m.text(r.key())
	m.expect(key)
	return key
}

// expect remembers that this key was at the present place of the order.
func (m *memory) expect(key string) {
	if len(key) > longestSharedKey {
		key = ""
	}
	switch {
	case m.next < len(m.order):
		m.order[m.next] = key
	case len(m.order) < longestOrder:
		m.order = append(m.order, key)
	default:
		return
	}
	m.next++
}

// text returns a key as a string, which is allocated once for many documents.
func (m *memory) text(key []byte) string {
	if len(key) == 0 || len(key) > longestSharedKey {
		return string(key)
	}
	n := len(key)
	slot := &m.seen[(uint(key[0])+3*uint(key[n/2])+7*uint(key[n-1])+31*uint(n))%uint(len(m.seen))]
	if *slot != string(key) {
		*slot = string(key)
	}
	return *slot
}
