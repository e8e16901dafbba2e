package query

// Verdicts are results of one filter for documents that never change, by the place of their bytes.
type Verdicts map[*byte]verdict

type verdict struct {
	ok      bool
	element int
	found   Found
	err     error
}

// of returns what is known about a document.
func (v Verdicts) of(doc []byte) (verdict, bool) {
	if v == nil {
		return verdict{}, false
	}
	known, ok := v[&doc[0]]
	return known, ok
}

// learn keeps the result for a document, unless the evaluation was ended before there was one.
func (v Verdicts) learn(doc []byte, w *Work, found verdict) {
	if v != nil && w.Err() == nil {
		v[&doc[0]] = found
	}
}
