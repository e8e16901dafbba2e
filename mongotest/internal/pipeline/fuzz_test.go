package pipeline

import (
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// FuzzPipeline parses and runs any array of stages: it must end, without a panic, in documents or in an error of its own.
func FuzzPipeline(f *testing.F) {
	for _, stages := range casesOfStages(f) {
		f.Add(parseJSON(f, stages))
	}
	in := memory{}
	in.fill(f, `@c [{"_id": 1, "a": 1, "b": [1, {"x": 2}], "t": {"$date": 5}}, {"_id": 2, "a": "s", "b": null}, {"_id": 3, "a": [], "b": {"x": [1, 2]}}]`)
	in.fill(f, `@d [{"_id": 1, "a": 1}, {"_id": 2, "a": [1, "s"]}]`)
	f.Fuzz(func(t *testing.T, stages []byte) {
		if !wellFormed(stages, 0) {
			t.Skip()
		}
		docs, err := in.runBytes(stages)
		var refused *mongoerr.Error
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

// casesOfStages returns the pipelines of the cases that are compared with a real server.
func casesOfStages(f *testing.F) []string {
	f.Helper()
	var list []string
	for _, line := range spectest.Lines(f, "../differential/testdata/cases/stages/*.txt") {
		_, rest, found := strings.Cut(line, `"pipeline": `)
		stages, _, ended := strings.Cut(rest, `, "cursor": `)
		if found && ended && line[0] == '{' {
			list = append(list, stages)
		}
	}
	return list
}

// wellFormed reports whether a document is valid in all its depth, which servers check before they look further.
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
		if v.IsString() && v.Text() == nil || isBool(v) && v.Data[0] > 1 {
			return false
		}
	}
	return it.Err == nil
}
