package call

// MemoKey names an evaluation: of what, for which document. Documents never change.
type MemoKey struct {
	By  any   // an update, the options of a collection with a validator, or what a statement matched
	Doc *byte // the place of the document's bytes; nil for an upsert
}

type memoValue struct {
	doc []byte
	err error
}

type memoEntry struct {
	MemoKey
	memoValue
}

// memo has the results of the evaluations of the attempts at a unit of work.
type memo struct {
	known  map[MemoKey]memoValue
	recent []memoEntry // by this attempt
}

func (m *memo) store(q MemoKey, is memoValue) {
	if m.known == nil {
		m.known = make(map[MemoKey]memoValue)
	}
	m.known[q] = is
}

// note keeps the result of an attempt. If there is another attempt, it works with the same document.
func (m *memo) note(q MemoKey, doc []byte) {
	m.recent = append(m.recent, memoEntry{q, memoValue{doc: doc}})
}

// again begins another attempt.
func (m *memo) again() {
	for _, a := range m.recent {
		m.store(a.MemoKey, a.memoValue)
	}
	m.recent = m.recent[:0]
}

// reset begins another unit.
func (m *memo) reset() {
	clear(m.known)
	m.recent = m.recent[:0]
}
