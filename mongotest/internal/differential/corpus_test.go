package differential

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
// An empty line ends a sequence. A command after "@" is asked before every sequence behind it, up to the next lines with "@"; "@"
// alone is nothing. DB stands for the database of the test; "CURSOR" for the cursor that was left open last.
//
// Where this server replies otherwise a second reply is its own, and testdata/differences.txt has the reason.

const casesFolder = "testdata/cases"

// recordedVersion is that of the real server whose replies are recorded.
const recordedVersion = "9.0"

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
	lines, err := parseCases(string(text))
	if err != nil {
		t.Errorf("%s: %v", path, err)
	}
	name, _ := filepath.Rel(casesFolder, path)
	return caseFile{path: path, name: name, lines: lines}
}

// parseCases refuses a line that is nothing: nobody would ask it.
func parseCases(text string) ([]*caseLine, error) {
	var lines []*caseLine
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		reply, isReply := strings.CutPrefix(line, "\t")
		switch {
		case isReply && len(lines) > 0 && lines[len(lines)-1].isCommand():
			last := lines[len(lines)-1]
			last.replies = append(last.replies, reply)
		case line == "" || slices.Contains([]byte("#@{"), line[0]):
			lines = append(lines, &caseLine{text: line})
		default:
			return nil, fmt.Errorf("neither a command, a reply, a comment nor what is asked before: %q", line)
		}
	}
	return lines, nil
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
