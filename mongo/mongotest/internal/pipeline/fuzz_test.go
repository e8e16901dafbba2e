package pipeline

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/holdfast-db/holdfast/internal/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// FuzzPipeline parses and runs any array of stages: it must end, without a panic, in documents or in an error of its own.
func FuzzPipeline(f *testing.F) {
	for _, file := range caseFiles(f) {
		for _, line := range file.lines {
			if line.text[0] == '[' {
				f.Add(parseJSON(f, line.text))
			}
		}
	}
	m := maker{rand.New(rand.NewPCG(9, 10))}
	in := memory{}
	in.fill(f, "@c "+m.documents(4))
	in.fill(f, "@d "+m.documents(3))
	f.Fuzz(func(t *testing.T, stages []byte) {
		if !wellFormed(stages, 0) {
			t.Skip()
		}
		docs, err := in.runBytes(stages)
		var refused *query.Error
		if err != nil && !errors.As(err, &refused) {
			t.Fatalf("an error of type %T: %v", err, err)
		}
		for _, doc := range docs {
			if !wellFormed(doc, 0) {
				t.Fatalf("a document that is none: %x", doc)
			}
		}
	})
}

func (m memory) runBytes(stages []byte) ([][]byte, error) {
	p, err := Parse(stages, Options{DB: "db", Coll: "c"})
	if err != nil {
		return nil, err
	}
	return run(p, m.context(), slices.Values(m["c"]))
}

// wellFormed tells whether a document is valid in all its depth, which servers check before they look further.
func wellFormed(doc []byte, depth int) bool {
	n, err := wire.DocumentLength(doc)
	if err != nil || n != len(doc) || depth > query.MaxNesting {
		return false
	}
	it := wire.Elements(doc)
	for it.Next() {
		v := query.Of(it.Element)
		if (v.IsDocument() || v.IsArray()) && !wellFormed(v.Data, depth+1) {
			return false
		}
		if isText(v) && v.Text() == nil || isBool(v) && v.Data[0] > 1 {
			return false
		}
	}
	return it.Err == nil
}
