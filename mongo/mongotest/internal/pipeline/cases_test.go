package pipeline

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/spectest"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// The files in testdata/stages hold cases and what the real server answers: "@name [documents]" fills a collection, a line
// that begins with "[" is a pipeline over the collection c, or with "!" an update of its first document, and the lines
// behind it are the documents of the answer, or its error. -record writes the answers anew.
var record = flag.Bool("record", false, "write the real server's answers into testdata/stages")

// caseFile is one file of cases.
type caseFile struct {
	path  string
	lines []caseLine
}

// caseLine is a collection or a case with the lines of its answer.
type caseLine struct {
	text   string
	answer []string
}

func caseFiles(t testing.TB) []caseFile {
	paths, err := filepath.Glob("testdata/stages/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var files []caseFile
	for _, path := range paths {
		files = append(files, readCases(t, path))
	}
	return files
}

func readCases(t testing.TB, path string) caseFile {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := caseFile{path: path}
	scan := bufio.NewScanner(bytes.NewReader(b))
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		line := scan.Text()
		if answer, ok := strings.CutPrefix(line, "\t"); ok {
			last := &f.lines[len(f.lines)-1]
			last.answer = append(last.answer, answer)
		} else if line != "" {
			f.lines = append(f.lines, caseLine{text: line})
		}
	}
	return f
}

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
			out = out.set("count", count(len(m[coll])))
		}
		return [][]byte{out.bytes()}, nil
	case "$indexStats":
		return [][]byte{object{{"name", text("_id_")}}.bytes()}, nil
	}
	return nil, unsupported("the stage " + name)
}

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

// ours returns this package's answer to a case.
func (m memory) ours(t testing.TB, text string) []string {
	docs, err := m.answer(t, text)
	if err != nil {
		var refused *query.Error
		if !errors.As(err, &refused) {
			t.Errorf("%s: an error of type %T: %v", text, err, err)
			return nil
		}
		return []string{errorLine(refused.Code, refused.Message)}
	}
	return lines(text, docs)
}

func (m memory) answer(t testing.TB, text string) ([][]byte, error) {
	if update, ok := strings.CutPrefix(text, "!"); ok {
		return m.update(parseJSON(t, update))
	}
	o := Options{DB: "db", Coll: "c"}
	if collectionless(text) {
		o.Coll = ""
	}
	p, err := Parse(parseJSON(t, text), o)
	if err != nil {
		return nil, err
	}
	docs, err := run(p, m.context(), slices.Values(m["c"]))
	if p.Target() != nil && err == nil {
		return nil, nil
	}
	return docs, err
}

// run runs a pipeline whose let is evaluated first.
func run(p *Pipeline, c Context, docs iter.Seq[[]byte]) ([][]byte, error) {
	vars, err := p.Vars(c)
	if err != nil {
		return nil, err
	}
	return p.Run(c, vars, docs)
}

func (m memory) update(stages []byte) ([][]byte, error) {
	let, err := ParseLet(nil)
	if err != nil {
		return nil, err
	}
	u, err := let.Hooks().Pipeline(Value{Type: bson.TypeArray, Data: stages})
	if err != nil {
		return nil, err
	}
	vars, err := let.Vars(m.context())
	if err != nil {
		return nil, err
	}
	doc, err := u(m["c"][0], vars)
	return [][]byte{doc}, err
}

func collectionless(text string) bool { return strings.HasPrefix(text, `[{"$documents"`) }

// lines writes documents one a line, sorted where the order is no one's promise.
func lines(text string, docs [][]byte) []string {
	out := []string{}
	for _, doc := range docs {
		out = append(out, bson.Raw(doc).String())
	}
	if unordered.MatchString(text) && !strings.Contains(text, `"$sort"`) {
		slices.Sort(out)
	}
	return out
}

var unordered = regexp.MustCompile(`"\$(group|sortByCount|sample)"`)

// wrappers are what the real server says around an error, or of itself.
var wrappers = regexp.MustCompile(`^((Plan)?Executor error during [a-zA-Z ]+(on namespace: \S+)? :: caused by :: |` +
	`Plan executor error during [a-zA-Z]+ :: caused by :: |Failed to optimize (pipeline|expression) :: caused by :: )+|\. Input document: .*$`)

func errorLine(code int32, message string) string {
	return fmt.Sprintf("error %d %s", code, wrappers.ReplaceAllString(message, ""))
}

// engine is the real server.
type engine struct{ db *mongo.Database }

func newEngine(t testing.TB) *engine {
	t.Helper()
	uri := spectest.Server(t)
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	e := &engine{client.Database(fmt.Sprintf("pipeline_%d_%s", os.Getpid(), t.Name()))}
	t.Cleanup(func() {
		_ = e.db.Drop(context.Background())
		_ = client.Disconnect(context.Background())
	})
	return e
}

func (e *engine) fill(t testing.TB, line string) {
	name, docs, _ := strings.Cut(line[1:], " ")
	if err := e.db.Collection(name).Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	var list []any
	for _, v := range query.Elements(parseJSON(t, docs)) {
		list = append(list, bson.Raw(v.Data))
	}
	if len(list) == 0 {
		return
	}
	if _, err := e.db.Collection(name).InsertMany(t.Context(), list); err != nil {
		t.Fatal(err)
	}
}

// theirs returns the real server's answer to a case.
func (e *engine) theirs(t testing.TB, text string) []string {
	reply, err := e.command(t, text)
	var refused mongo.CommandError
	if errors.As(err, &refused) && refused.Code != 0 {
		return []string{errorLine(refused.Code, strings.ReplaceAll(refused.Message, e.db.Name(), "db"))}
	}
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if text[0] == '!' {
		return lines(text, [][]byte{reply.Lookup("value").Value})
	}
	var docs [][]byte
	for _, v := range query.Elements(reply.Lookup("cursor", "firstBatch").Value) {
		docs = append(docs, v.Data)
	}
	return lines(text, docs)
}

func (e *engine) command(t testing.TB, text string) (reply bson.Raw, err error) {
	stages := bson.RawValue{Type: bson.TypeArray, Value: parseJSON(t, strings.TrimPrefix(text, "!"))}
	command := bson.D{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: stages}, {Key: "cursor", Value: bson.D{{Key: "batchSize", Value: 100000}}}}
	if collectionless(text) {
		command[0].Value = 1
	}
	if text[0] == '!' {
		command = bson.D{
			{Key: "findAndModify", Value: "c"},
			{Key: "query", Value: bson.D{}},
			{Key: "sort", Value: bson.D{{Key: "_id", Value: 1}}},
			{Key: "new", Value: true},
			{Key: "update", Value: stages},
		}
	}
	for range 2 { // a restart is not an answer
		var refused mongo.CommandError
		reply, err = e.db.RunCommand(t.Context(), command).Raw()
		if err == nil || errors.As(err, &refused) && refused.Code != 0 {
			break
		}
	}
	return reply, err
}

// TestCases compares every case with the recorded answer.
func TestCases(t *testing.T) {
	used := make(map[string]bool)
	for _, f := range caseFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(f.path), ".txt"), func(t *testing.T) {
			m := memory{}
			for _, line := range f.lines {
				if line.text[0] == '@' {
					m.fill(t, line.text)
					continue
				}
				got := m.ours(t, line.text)
				if d, ok := differences[line.text]; ok {
					used[line.text] = !slices.Equal(got, line.answer) && slices.Equal(got, d.ours)
					continue
				}
				if !slices.Equal(got, line.answer) {
					t.Errorf("%s\ngot  %s\nwant %s", line.text, strings.Join(got, "\n     "), strings.Join(line.answer, "\n     "))
				}
			}
		})
	}
	for text, d := range differences {
		if !used[text] && flag.Lookup("test.run").Value.String() == "" {
			t.Errorf("%s: the difference is none, or not the one in the table (%s)", text, d.reason)
		}
	}
}

// TestCasesAgainstARealServer compares the recorded answers with the real server's, or records them.
func TestCasesAgainstARealServer(t *testing.T) {
	e := newEngine(t)
	for _, f := range caseFiles(t) {
		var b strings.Builder
		var collections []string
		for _, line := range f.lines {
			fmt.Fprintln(&b, line.text)
			if line.text[0] == '@' {
				e.fill(t, line.text)
				collections = append(collections, line.text)
				continue
			}
			answer := e.theirs(t, line.text)
			if writes(line.text) {
				for _, c := range collections {
					e.fill(t, c)
				}
			}
			for _, l := range answer {
				fmt.Fprintln(&b, "\t"+l)
			}
			if !*record && !slices.Equal(answer, line.answer) {
				t.Errorf("%s\nrecorded %s\nanswers  %s", line.text, line.answer, answer)
			}
		}
		if *record {
			if err := os.WriteFile(f.path, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func writes(text string) bool {
	return text[0] == '!' || strings.Contains(text, `"$out"`) || strings.Contains(text, `"$merge"`)
}
