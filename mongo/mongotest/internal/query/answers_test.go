package query_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

var record = flag.Bool("record", false, "write what the real server answers to testdata/answers")

// section is a list of cases on the same documents.
type section struct {
	name     string
	docs     string   // an array
	commands []string // {"q", "u"} for an update, {"query", "update"} for a findAndModify, else a find
}

// sections are the cases of every part of the language.
var sections = [][]section{filterCases, updateCases, positionalCases, arrayCases, projectionCases, sortCases, schemaCases}

// aCase is one case: its documents, and its command in full.
type aCase struct {
	key     string // what names it in testdata/answers
	docs    []bson.Raw
	command bson.Raw
}

func cases(t testing.TB) []aCase {
	t.Helper()
	var all []aCase
	for _, list := range sections {
		for _, s := range list {
			docs := array(t, s.docs)
			for _, c := range s.commands {
				all = append(all, aCase{s.name + " " + c, docs, doc(t, full(c))})
			}
		}
	}
	return all
}

// full writes a command's short form in full.
func full(short string) string {
	switch {
	case strings.HasPrefix(short, `{"q":`):
		return `{"update": "c", "updates": [` + short + `]}`
	case strings.HasPrefix(short, `{"query":`):
		return `{"findAndModify": "c", ` + short[1:]
	case short == "{}":
		return `{"find": "c"}`
	}
	return `{"find": "c", ` + short[1:]
}

func array(t testing.TB, text string) []bson.Raw {
	t.Helper()
	values, err := doc(t, `{"v": `+text+`}`).Lookup("v").Array().Values()
	if err != nil {
		t.Fatal(err)
	}
	docs := make([]bson.Raw, len(values))
	for i, v := range values {
		docs[i] = v.Document()
	}
	return docs
}

const answersFile = "testdata/answers"

// answers reads the recorded answers: a line with the case's key, a line with the answer.
func answers(t *testing.T) map[string]string {
	t.Helper()
	content, err := os.ReadFile(answersFile)
	if err != nil {
		t.Fatal(err)
	}
	recorded := make(map[string]string)
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		key := lines.Text()
		lines.Scan()
		recorded[key] = lines.Text()
	}
	return recorded
}

// TestAnswersAreTheRealServers holds this package against the answers of a real server that were recorded.
func TestAnswersAreTheRealServers(t *testing.T) {
	recorded := answers(t)
	for _, c := range cases(t) {
		got, want := memory{}.run(t, c.docs, c.command), recorded[c.key]
		reason, declared := differences[c.key]
		switch {
		case want == "":
			t.Errorf("%s\nhas no recorded answer", c.key)
		case got != want && !declared:
			t.Errorf("%s\ngot  %s\nwant %s", c.key, got, want)
		case got == want && declared:
			t.Errorf("%s\nis declared to differ (%s), and does not", c.key, reason)
		}
		delete(recorded, c.key)
	}
	for key := range recorded {
		t.Errorf("%s\nis recorded, but no case", key)
	}
}

func TestDifferencesAreCases(t *testing.T) {
	known := make(map[string]bool)
	for _, c := range cases(t) {
		if known[c.key] {
			t.Errorf("%s is there twice", c.key)
		}
		known[c.key] = true
	}
	for key := range differences {
		if !known[key] {
			t.Errorf("%s is declared to differ, and is no case", key)
		}
	}
}

// TestRecordedAnswersAgainstARealServer asks the real server again; with -record it writes down what it says.
func TestRecordedAnswersAgainstARealServer(t *testing.T) {
	server := reference(t)
	if *record {
		write(t, server)
		return
	}
	recorded := answers(t)
	for _, c := range cases(t) {
		if got := server.run(t, c.docs, c.command); got != recorded[c.key] {
			t.Errorf("%s\nrecorded %s\nnow      %s", c.key, recorded[c.key], got)
		}
	}
}

func write(t *testing.T, server engine) {
	t.Helper()
	var out strings.Builder
	for _, c := range cases(t) {
		answer := server.run(t, c.docs, c.command)
		if strings.Contains(answer, "\n") {
			t.Fatalf("%s: the answer has several lines", c.key)
		}
		fmt.Fprintf(&out, "%s\n%s\n", c.key, answer)
	}
	if err := os.WriteFile(answersFile, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
