package differential

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var (
	record   = flag.Bool("record", false, "write what the real server replies, and this one where a reason is told")
	tryCases = flag.String("cases", "", "a file of sequences to ask both servers, to try something out: their replies are shown")
)

// TestCases asks this server.
func TestCases(t *testing.T) {
	p := played{&server{dial: ours(t, recordedVersion)}, "differential_ours"}
	table := readDifferences(t)
	left := make(map[string]bool) // the files that -run leaves out
	asked := 0
	for _, f := range caseFiles(t) {
		left[f.name] = true
		t.Run(f.name, func(t *testing.T) {
			left[f.name] = false
			for _, s := range f.sequences() {
				before := ""
				p.play(t, s, func(l *caseLine, reply string) {
					asked++
					reason := ""
					if reply != l.theirs() {
						reason = table.reason(f.name, l.text)
					}
					if *record {
						l.setOurs(reply, reason+before != "")
					}
					if wrong := l.wrong(reply, reason+before); wrong != "" {
						t.Errorf("%s: %s\n%s", l.about, l.text, wrong)
					}
					before = reason
				})
			}
			if *record {
				f.write(t)
			}
		})
	}
	rows := table.unused(func(place string) bool { return !left[place] && !strings.HasPrefix(place, suitePlace) })
	if *record {
		table.write(t, rows)
		return
	}
	for _, row := range rows {
		t.Errorf("%s: is no difference: %s", differencesFile, row)
	}
	fmt.Printf("figure differential-cases %d\n", asked)
	fmt.Printf("figure differential-rows %d\n", len(table.reasons))
}

// wrong holds a reply of this server against those in the file. A difference must have its reason in the table, or follow one
// that has one: after a write with another result, reads have other results too.
func (l *caseLine) wrong(reply, reason string) string {
	switch {
	case reply != l.ours():
		return fmt.Sprintf("got  %s\nwant %s", reply, l.ours())
	case reply != l.theirs() && reason == "":
		return differencesFile + " tells no reason for the difference"
	}
	return ""
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
	own := played{&server{dial: ours(t, recordedVersion)}, "differential_ours"}
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
