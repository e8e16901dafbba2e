package mongotest

// question is what an evaluation finds out: by what, for which document. Documents never change.
type question struct {
	by  any   // an update, the options of a collection with a validator, or what a statement has found
	doc *byte // the place of the document's bytes; nil for an upsert
}

type finding struct {
	doc []byte
	err error
}

type answered struct {
	question
	finding
}

// findings are what the attempts at a part of a write have found out.
type findings struct {
	known  map[question]finding
	recent []answered // by this attempt
}

func (f *findings) learn(q question, is finding) {
	if f.known == nil {
		f.known = make(map[question]finding)
	}
	f.known[q] = is
}

// note notes what an attempt has found out. If there is another attempt, it works with the same document.
func (f *findings) note(q question, doc []byte) {
	f.recent = append(f.recent, answered{q, finding{doc: doc}})
}

// again begins another attempt.
func (f *findings) again() {
	for _, a := range f.recent {
		f.learn(a.question, a.finding)
	}
	f.recent = f.recent[:0]
}

// forget begins another part.
func (f *findings) forget() {
	clear(f.known)
	f.recent = f.recent[:0]
}
