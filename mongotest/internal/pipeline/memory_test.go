package pipeline

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/javascript"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// parseJSON returns the bytes of an array in Extended JSON.
func parseJSON(t testing.TB, s string) []byte {
	t.Helper()
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(`{"v": `+s+`}`), false, &d); err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	b, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return query.Lookup(b, "v").Data
}

// memory is a Source of collections in memory.
type memory map[string][][]byte

func (m memory) Collection(_, coll string) [][]byte { return m[coll] }

// Stage answers as the real server does, as far as the cases can tell.
func (m memory) Stage(_, coll, name string, spec Value) ([][]byte, error) {
	switch name {
	case "$collStats":
		var out object
		if !query.Lookup(spec.Data, "count").Missing() {
			out = out.Set("count", count(len(m[coll])))
		}
		return [][]byte{out.Bytes()}, nil
	case "$indexStats":
		return [][]byte{object{}.Set("name", query.Text("_id_")).Bytes()}, nil
	}
	return nil, unsupported("the stage " + name)
}

// Near and Text need an index.
func (memory) Searching(string, string, []Value) func() { return func() {} }

func (memory) Near(string, string, string, func() ([]byte, error), *query.Filter, any) ([][]byte, error) {
	return nil, unsupported("the stage $geoNear")
}

func (memory) Text(string, string, *query.Filter, any) ([][]byte, error) {
	return nil, unsupported("a $match with $text")
}

func (memory) Fail(err error) error { return err }

func (m memory) fill(t testing.TB, line string) {
	name, docs, _ := strings.Cut(line[1:], " ")
	m[name] = nil
	for _, v := range query.Elements(parseJSON(t, docs)) {
		m[name] = append(m[name], v.Data)
	}
}

func (m memory) context() Context {
	return Context{Source: m, Now: 1700000000000, Rand: rand.New(rand.NewPCG(1, 2)).Float64}
}

// ours returns the documents that a pipeline gives, one a line, or its error.
func (m memory) ours(t testing.TB, text string) []string {
	docs, err := m.runBytes(parseJSON(t, text))
	var refused *mongoerr.Error
	if errors.As(err, &refused) {
		return []string{fmt.Sprintf("error %d %s", refused.Code, refused.Message)}
	}
	if err != nil {
		t.Errorf("%s: an error of type %T: %v", text, err, err)
	}
	return lines(docs)
}

// run runs a pipeline whose let is evaluated first.
func run(p *Pipeline, c Context, docs iter.Seq[[]byte]) ([][]byte, error) {
	vars, err := p.Vars(c)
	if err != nil {
		return nil, err
	}
	return p.Run(c, vars, docs)
}

func (m memory) runBytes(stages []byte) ([][]byte, error) {
	p, err := Parse(stages, Options{DB: "db", Coll: "c"})
	if err != nil {
		return nil, err
	}
	return run(p, m.context(), slices.Values(m["c"]))
}

// lines writes documents one a line.
func lines(docs [][]byte) []string {
	out := []string{}
	for _, doc := range docs {
		out = append(out, bson.Raw(doc).String())
	}
	return out
}

// Engine returns an engine of its own.
func (m memory) Engine() *javascript.Engine { return new(javascript.Engine) }
