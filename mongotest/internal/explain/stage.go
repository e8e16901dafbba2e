package explain

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// state is what one step of a stage came to.
type state uint8

const (
	advanced state = iota // there is a document
	needTime
	ended
)

// stage is one part of a plan. Its steps are counted as the real server counts them.
type stage interface {
	step() (state, *store.Record)
	name() string
	eof() bool
	counts() *counters
	inputs() []stage
	appendPlan(dst []byte) []byte    // how it works
	appendFigures(dst []byte) []byte // what it has done
}

// counters are the steps of a stage by what they came to.
type counters struct{ works, advanced, needTime int32 }

func (c *counters) counts() *counters { return c }

// work runs a step of a stage, and counts it.
func work(s stage) (state, *store.Record) {
	c := s.counts()
	c.works++
	st, r := s.step()
	switch st {
	case advanced:
		c.advanced++
	case needTime:
		c.needTime++
	case ended:
	}
	return st, r
}

// withInput is the part of a stage that takes the results of another one.
type withInput struct {
	counters
	input stage
}

func (s *withInput) inputs() []stage               { return []stage{unchosen(s.input)} }
func (s *withInput) eof() bool                     { return s.input.eof() }
func (*withInput) appendPlan(dst []byte) []byte    { return dst }
func (*withInput) appendFigures(dst []byte) []byte { return dst }

// withoutInput is the part of a stage that reads the collection.
type withoutInput struct {
	counters
	ended bool
}

func (*withoutInput) inputs() []stage                 { return nil }
func (s *withoutInput) eof() bool                     { return s.ended }
func (*withoutInput) appendPlan(dst []byte) []byte    { return dst }
func (*withoutInput) appendFigures(dst []byte) []byte { return dst }

// end notes that there is nothing more.
func (s *withoutInput) end() (state, *store.Record) {
	s.ended = true
	return ended, nil
}

// filtered is a stage that asks a filter.
type filtered interface{ filter() *test }

// test is a compiled condition; nil is met by everything.
type test struct {
	document []byte
	match    func(doc []byte) (bool, error)
	failed   *error
}

func (t *test) meets(doc []byte) bool {
	if t == nil || *t.failed != nil {
		return t == nil
	}
	ok, err := t.match(doc)
	if err != nil {
		*t.failed = err
	}
	return ok
}

// express is a stage that looks up one document and has no steps.
type express interface{ withoutSteps() }

func truth(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// appendStage writes a stage and those that it takes its results from.
func appendStage(dst []byte, s stage, figures bool) []byte {
	dst = wire.AppendString(dst, "stage", s.name())
	if f, ok := s.(filtered); ok && f.filter() != nil {
		dst = wire.AppendDocument(dst, "filter", f.filter().document)
	}
	_, lookup := s.(express)
	if lookup {
		dst = s.appendPlan(dst)
	}
	if figures {
		dst = appendCounters(dst, s, lookup)
	}
	if b, ok := s.(interface{ appendBeforePlan(dst []byte) []byte }); ok && figures {
		dst = b.appendBeforePlan(dst)
	}
	if !lookup {
		dst = s.appendPlan(dst)
	}
	if figures {
		dst = s.appendFigures(dst)
	}
	switch list := s.inputs(); {
	case len(list) == 1:
		at, d := wire.BeginEmbedded(dst, "inputStage")
		dst = wire.EndDocument(appendStage(d, list[0], figures), at)
	case len(list) > 1:
		all, d := wire.BeginArray(dst, "inputStages")
		for i, each := range list {
			at, inner := wire.BeginEmbedded(d, wire.ArrayKey(i))
			d = wire.EndDocument(appendStage(inner, each, figures), at)
		}
		dst = wire.EndDocument(d, all)
	}
	return dst
}

func appendCounters(dst []byte, s stage, lookup bool) []byte {
	c := s.counts()
	dst = wire.AppendInt32(wire.AppendInt32(dst, "nReturned", c.advanced), "executionTimeMillisEstimate", 0)
	if lookup {
		return dst
	}
	dst = wire.AppendInt32(wire.AppendInt32(wire.AppendInt32(dst, "works", c.works), "advanced", c.advanced), "needTime", c.needTime)
	dst = wire.AppendInt32(wire.AppendInt32(wire.AppendInt32(dst, "needYield", 0), "saveState", 0), "restoreState", 0)
	return wire.AppendInt32(dst, "isEOF", truth(s.eof()))
}

// examined adds up what the stages that read have looked at.
func examined(s stage) (keys, docs int32) {
	s = unchosen(s)
	if r, ok := s.(interface{ examined() (keys, docs int32) }); ok {
		keys, docs = r.examined()
	}
	for _, each := range s.inputs() {
		k, d := examined(each)
		keys, docs = keys+k, docs+d
	}
	return keys, docs
}
