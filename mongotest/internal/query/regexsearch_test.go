package query_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

func TestFirstMatchFindsWhatGoFinds(t *testing.T) {
	long := strings.Repeat("word é\nab  \xff", 32<<10)
	for _, text := range []string{"", "a", "word é", long, long + "zz"} {
		for _, pattern := range []string{
			``, `a`, `zz`, `zz$`, `^word`, `^word$`, `\Aword é\z`, `word`, `(x)|(?s)d.*b`, `(?s).*`, `d\b`, `q`, `b  $`, `(b)(x)?`, `a{999}b`, strings.Repeat("a", 1000), strings.Repeat("word é\nab  .", 500),
		} {
			re := regexp.MustCompile(pattern)
			got, err := query.FirstMatch(re, text, query.NewWork(func() error { return nil }))
			if want := re.FindStringSubmatchIndex(text); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%.40q in %d bytes: got %v, %v; want %v", pattern, len(text), got, err, want)
			}
			if got, err := query.FirstMatch(re, text, nil); err != nil || fmt.Sprint(got) != fmt.Sprint(re.FindStringSubmatchIndex(text)) {
				t.Errorf("%.40q in %d bytes, without work: got %v, %v", pattern, len(text), got, err)
			}
		}
	}
}

// Both have many states at each rune, of 4 MB.
func TestALongSearchEndsWithTheWork(t *testing.T) {
	text, over := strings.Repeat("a", 4<<20), errors.New("over")
	for _, pattern := range []string{"[ab]{999}c", strings.Repeat("[ab]", 8000) + "c"} {
		asked := 0
		w := query.NewWork(func() error {
			if asked++; asked == 3 {
				return over
			}
			return nil
		})
		if got, err := query.FirstMatch(regexp.MustCompile(pattern), text, w); !errors.Is(err, over) || got != nil {
			t.Errorf("%.20s: got %v, %v", pattern, got, err)
		}
		var f query.Filter
		if err := f.Parse(doc(t, `{"text": {"$regex": "`+pattern+`"}}`)); err != nil {
			t.Fatal(err)
		}
		asked = 0
		w.Restart()
		stored := query.Object{{"text", query.Text(text)}}.Bytes()
		if ok, err := f.MatchWith(stored, &query.Matching{Work: w}); ok || !errors.Is(err, over) {
			t.Errorf("the filter %.20s: %t, %v", pattern, ok, err)
		}
	}
}

// The literal prefix of such a pattern is all of it but for the anchors.
func TestAnAnchoredPatternIsNotFoundInsideALongText(t *testing.T) {
	stored := query.Object{{"text", query.Text("a" + strings.Repeat("foo", 100<<10))}}.Bytes()
	for pattern, want := range map[string]bool{"foo": true, "^foo$": false, "^afoo": true, "foo$": true, "^foo": false} {
		var f query.Filter
		if err := f.Parse(doc(t, `{"text": {"$regex": "`+pattern+`"}}`)); err != nil {
			t.Fatal(err)
		}
		if got, err := f.MatchWith(stored, &query.Matching{Work: query.NewWork(func() error { return nil })}); got != want || err != nil {
			t.Errorf("%s: %t, %v; want %t", pattern, got, err, want)
		}
	}
}

func TestAPatternHasAtMost32764Bytes(t *testing.T) {
	for length, want := range map[int]string{32764: "", 32765: "pattern string is longer than the limit set by the application"} {
		re, fault, err := query.CompileRegex("", strings.Repeat("a", length), "")
		if fault != want || err != nil || (re == nil) != (want != "") {
			t.Errorf("%d bytes: %v, %q, %v", length, re, fault, err)
		}
	}
}
