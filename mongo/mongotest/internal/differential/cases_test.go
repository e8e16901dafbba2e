package differential

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The files testdata/cases/*.txt hold sequences of commands, each from nothing, and what the real server replied:
//
//	# what it is about
//	@ {"insert": "c", "documents": [{"_id": 1}]}
//
//	{"find": "c"}
//		{"cursor": {"firstBatch": [{"_id": 1}],"id": 0L,"ns": "DB.c"},"ok": 1.0}
//	{"count": "c"}
//		{"n": 1,"ok": 1.0}
//
// An empty line ends a sequence. What follows "@" is asked before every sequence behind it, up to the next lines with "@"; "@"
// alone is nothing. DB stands for the database of the test; "CURSOR" for the cursor that was left open last.
//
// Where this server replies otherwise a second reply is its own, and testdata/differences.txt has the reason.

const casesFolder = "testdata/cases"

var (
	record   = flag.Bool("record", false, "write what the real server replies, and this one where a reason is told")
	tryCases = flag.String("cases", "", "a file of sequences to ask both servers, to try something out: their replies are shown")
)

// caseLine is a line of a file, and the lines with a tab behind it.
type caseLine struct {
	about   string // what the last comment before it says
	text    string
	replies []string
}

func (l *caseLine) isCommand() bool { return strings.HasPrefix(l.text, "{") }

// theirs and ours are the recorded replies.
func (l *caseLine) theirs() string { return l.reply(0) }
func (l *caseLine) ours() string   { return l.reply(len(l.replies) - 1) }

func (l *caseLine) setTheirs(reply string) {
	if len(l.replies) == 0 {
		l.replies = []string{""}
	}
	l.replies[0] = reply
}

// setOurs keeps a reply of this server where it may differ.
func (l *caseLine) setOurs(reply string, may bool) {
	l.replies = l.replies[:min(1, len(l.replies))]
	if may && reply != l.theirs() {
		l.replies = append(l.replies, reply)
	}
}

func (l *caseLine) reply(i int) string {
	if i < 0 || i >= len(l.replies) {
		return ""
	}
	return l.replies[i]
}

// sequence is the commands of a file that are asked from nothing.
type sequence struct {
	setup []*caseLine
	lines []*caseLine
}

type caseFile struct {
	path  string
	name  string // in testdata/cases
	lines []*caseLine
}

func readCases(t testing.TB, path string) caseFile {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	name, _ := filepath.Rel(casesFolder, path)
	f := caseFile{path: path, name: name}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if reply, ok := strings.CutPrefix(line, "\t"); ok && len(f.lines) > 0 {
			last := f.lines[len(f.lines)-1]
			last.replies = append(last.replies, reply)
			continue
		}
		f.lines = append(f.lines, &caseLine{text: line})
	}
	return f
}

func (f caseFile) write(t *testing.T) {
	t.Helper()
	var b strings.Builder
	for _, l := range f.lines {
		b.WriteString(l.text + "\n")
		for _, reply := range l.replies {
			b.WriteString("\t" + reply + "\n")
		}
	}
	if err := os.WriteFile(f.path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (f caseFile) sequences() []*sequence {
	var list []*sequence
	about, ended, fresh := "", true, true
	var setup []*caseLine
	for _, l := range f.lines {
		text, isSetup := strings.CutPrefix(l.text, "@")
		comment, isAbout := strings.CutPrefix(l.text, "# ")
		switch {
		case isSetup:
			if fresh {
				setup = nil
			}
			if text = strings.TrimSpace(text); text != "" {
				setup = append(slices.Clip(setup), &caseLine{text: text})
			}
			ended, fresh = true, false
		case isAbout:
			about = comment
		case l.isCommand():
			if ended {
				list = append(list, &sequence{setup: setup})
			}
			l.about = about
			last := list[len(list)-1]
			last.lines = append(last.lines, l)
			ended, fresh = false, true
		default:
			ended = true
		}
	}
	return list
}

func caseFiles(t testing.TB) []caseFile {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(casesFolder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) == 0 {
		t.Fatalf("testdata/cases: %d files, %v", len(paths), err)
	}
	var files []caseFile
	for _, path := range paths {
		files = append(files, readCases(t, path))
	}
	return files
}

// played is a server that sequences are asked.
type played struct {
	*server
	db string
}

// play asks a sequence and gives each reply to check. What fails without a reply is asked again once, from nothing: the real
// server may have been started anew.
func (p played) play(t *testing.T, s *sequence, check func(l *caseLine, reply string)) {
	t.Helper()
	replies, err := p.ask(s)
	if err != nil {
		replies, err = p.ask(s)
	}
	if err != nil {
		t.Errorf("%s: %s: %v", s.lines[0].about, s.lines[0].text, err)
		return
	}
	for i, l := range s.lines {
		check(l, replies[i])
	}
}

func (p played) ask(s *sequence) ([]string, error) {
	lines := slices.Concat(s.setup, s.lines)
	databases := []string{p.db}
	if slices.ContainsFunc(lines, func(l *caseLine) bool { return strings.Contains(l.text, "DB_other") }) {
		databases = append(databases, p.db+"_other")
	}
	for _, name := range databases {
		if _, err := p.run(bson.D{{Key: "dropDatabase", Value: 1}, {Key: "$db", Value: name}}); err != nil {
			return nil, err
		}
	}
	var replies []string
	for i, l := range lines {
		command, err := parseCommand(l.text, p.db)
		if err != nil {
			return nil, err
		}
		raw, err := p.run(command)
		if err != nil {
			return nil, err
		}
		if i >= len(s.setup) {
			replies = append(replies, oneLine(normalised(p.db, command, raw).text))
		} else if !succeeded(raw) {
			return nil, errors.New(l.text + ": " + raw.String())
		}
	}
	return replies, nil
}

// oneLine writes a reply so that it is one line of a file.
func oneLine(reply string) string {
	return strings.NewReplacer("\n", `\n`, "\r", `\r`, "\x00", `\0`).Replace(strings.ToValidUTF8(reply, "?"))
}

// TestCases asks this server.
func TestCases(t *testing.T) {
	p := played{&server{dial: ours(t)}, "differential_ours"}
	table := readDifferences(t)
	for _, f := range caseFiles(t) {
		t.Run(f.name, func(t *testing.T) {
			for _, s := range f.sequences() {
				before := ""
				p.play(t, s, func(l *caseLine, reply string) {
					reason := ""
					if reply != l.theirs() {
						reason = table.reason(f.name, l.text)
					}
					if *record {
						l.setOurs(reply, reason+before != "")
					}
					l.compare(t, reply, reason+before)
					before = reason
				})
			}
			if *record {
				f.write(t)
			}
		})
	}
	table.unused(t)
}

// compare holds a reply of this server against those in the file. A difference must have its reason in the table, or follow one
// that has: what was written otherwise is read otherwise.
func (l *caseLine) compare(t *testing.T, reply, reason string) {
	t.Helper()
	switch {
	case reply != l.ours():
		t.Errorf("%s: %s\ngot  %s\nwant %s", l.about, l.text, reply, l.ours())
	case reply != l.theirs() && reason == "":
		t.Errorf("%s: %s\n%s tells no reason for the difference", l.about, l.text, differencesFile)
	}
}

// TestRealServerReplies asks the real server.
func TestRealServerReplies(t *testing.T) {
	p := played{&server{dial: authority(t)}, fmt.Sprintf("differential_%d_cases", os.Getpid())}
	for _, f := range caseFiles(t) {
		t.Run(f.name, func(t *testing.T) {
			for _, s := range f.sequences() {
				p.play(t, s, func(l *caseLine, reply string) {
					switch {
					case *record:
						l.setTheirs(reply)
					case reply != l.theirs():
						t.Errorf("%s: %s\nrecorded %s\nnow      %s", l.about, l.text, l.theirs(), reply)
					}
				})
			}
			if *record {
				f.write(t)
			}
		})
	}
}

// TestTryCases shows what both servers reply to the file of -cases.
func TestTryCases(t *testing.T) {
	if *tryCases == "" {
		return
	}
	auth := played{&server{dial: authority(t)}, fmt.Sprintf("differential_%d_try", os.Getpid())}
	own := played{&server{dial: ours(t)}, "differential_ours"}
	for _, s := range readCases(t, *tryCases).sequences() {
		theirs := make(map[*caseLine]string)
		auth.play(t, s, func(l *caseLine, reply string) { theirs[l] = reply })
		own.play(t, s, func(l *caseLine, reply string) {
			if reply == theirs[l] {
				t.Logf("%s\nboth   %s", l.text, reply)
			} else {
				t.Errorf("%s\nours   %s\ntheirs %s", l.text, reply, theirs[l])
			}
		})
	}
}
