package differential

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// pair is the two servers, with a database that only this pair uses.
type pair struct {
	db           string
	ours, theirs *server
}

func newPair(t testing.TB, name string) *pair {
	t.Helper()
	theirs := &server{dial: authority(t)} // first, for it may not be there
	p := &pair{db: fmt.Sprintf("differential_%d_%s", os.Getpid(), name), ours: &server{dial: ours(t, theirs.version(t))}, theirs: theirs}
	t.Cleanup(func() { _, _ = theirs.run(bson.D{{Key: "dropDatabase", Value: 1}, {Key: "$db", Value: p.db}}) })
	return p
}

// answer is what both said to one command, as far as it is compared.
type answer struct {
	command      bson.D
	ours, theirs reply
	succeeded    bool
}

// reply is a normalised reply, and its text.
type reply struct {
	doc  bson.D
	text string
}

func (a *answer) same() bool { return a.ours.text == a.theirs.text }

// ask sends a command to both.
func (p *pair) ask(command bson.D) (answer, error) {
	got, err := p.ours.run(command)
	if err != nil {
		return answer{}, fmt.Errorf("ours: %w", err)
	}
	want, err := p.theirs.run(command)
	if err != nil {
		return answer{}, fmt.Errorf("the real server: %w", err)
	}
	a := answer{command: command, succeeded: succeeded(want)}
	if !bytes.Equal(got, want) {
		a.ours, a.theirs = normalised(p.db, command, got), normalised(p.db, command, want)
		if nearlySame(command, a.ours.text, a.theirs.text) || sameButForBytes(a.ours.text, a.theirs.text) {
			a.ours = a.theirs
		}
	}
	return a, nil
}

// succeeded reports whether a reply has no error of any kind.
func succeeded(reply bson.Raw) bool {
	ok, _ := reply.Lookup("ok").AsFloat64OK()
	_, failed := reply.LookupErr("writeErrors")
	errors, _ := reply.Lookup("nErrors").AsInt64OK()
	return ok == 1 && failed != nil && errors == 0
}

// parseCommand reads a command for a database, which is written DB, and puts $db behind all else.
func parseCommand(text, db string) (bson.D, error) {
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(database.ReplaceAllString(text, db+"$1")), false, &d); err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	at := slices.IndexFunc(d, func(e bson.E) bool { return e.Key == "$db" })
	if at < 0 {
		return append(d, bson.E{Key: "$db", Value: db}), nil
	}
	last := d[at]
	return append(slices.Delete(d, at, at+1), last), nil
}

var database = regexp.MustCompile(`\bDB(\b|_other)`)

// withoutRepeats takes the second of two fields of the same name out of every document.
func withoutRepeats(v any) any {
	switch v := v.(type) {
	case bson.D:
		seen := make(map[string]bool, len(v))
		out := v[:0]
		for _, e := range v {
			if !seen[e.Key] {
				seen[e.Key] = true
				out = append(out, bson.E{Key: e.Key, Value: withoutRepeats(e.Value)})
			}
		}
		return out
	case bson.A:
		for i := range v {
			v[i] = withoutRepeats(v[i])
		}
	}
	return v
}

// show writes a command as the table of differences has it.
func (p *pair) show(command bson.D) string {
	b, err := bson.MarshalExtJSON(command, false, false)
	if err != nil {
		return err.Error()
	}
	text := strings.ReplaceAll(string(b), `,"$db":"`+p.db+`"`, "")
	return strings.ReplaceAll(text, p.db+".", "DB.")
}

// collections are those that sequences use.
var collections = []string{"c", "d", "e", "f", "v", "w", "x", "g.h", "k", "kv", "kw", "ko", "q", "r", "ts", "E"}

// clear makes both databases empty.
func (p *pair) clear() error {
	for _, name := range collections {
		if _, err := p.ask(bson.D{{Key: "drop", Value: name}, {Key: "$db", Value: p.db}}); err != nil {
			return err
		}
	}
	return nil
}

// replay asks commands of both, from nothing, up to the first difference, and returns the answer to the last asked and how
// many were.
func (p *pair) replay(history []bson.D) (answer, int, error) {
	if err := p.clear(); err != nil {
		return answer{}, 0, err
	}
	var a answer
	for i, c := range history {
		var err error
		if a, err = p.ask(c); err != nil {
			return a, i, err
		}
		if !a.same() {
			return a, i + 1, nil
		}
	}
	return a, len(history), nil
}
