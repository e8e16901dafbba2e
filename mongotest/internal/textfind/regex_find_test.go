package textfind

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

func TestASearchFindsTheMatchesOfFindAll(t *testing.T) {
	long := strings.Repeat("word é\nab  ", 32<<10)
	for _, pattern := range []string{
		``, `a`, `a*`, `(a)|(b)`, `\b`, `\bw`, `\B`, `^`, `(?m)^`, `(?m)^.`, `$`, `(?m)$`, `\s*`, `.`, `(?s).`, `é?`, `[^x]x`, `(?i)WORD|^a`, `\Aw`, `b\b|\bb`, `x|^w|a\b`,
	} {
		re := regexp.MustCompile(pattern)
		for _, s := range []string{"", "a", "aa", "ab ba", "é", "éa\nbé word", "word a\n\nword", "\xffa\xc3", long[:200]} {
			var got [][]int
			err := (&Search{re: re, Text: s}).All(func(found []int) bool {
				got = append(got, found)
				return true
			})
			if want := re.FindAllStringSubmatchIndex(s, -1); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%q in %q: got %v, %v; want %v", pattern, s, got, err, want)
			}
		}
	}
	for _, pattern := range []string{`zz`, `(x)|(?s)d.*b`, `(?s).*`, `d\b`, `q`} {
		re := regexp.MustCompile(pattern)
		w := query.NewWork(func() error { return nil })
		got, err := (&Search{work: w, re: re, Text: long}).From(0)
		if want := re.FindStringSubmatchIndex(long); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q in a long text: got %v, %v; want %v", pattern, got, err, want)
		}
	}
}
