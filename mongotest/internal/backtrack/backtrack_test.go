package backtrack

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestASearchFindsWhatTheManualOfPCREPromises(t *testing.T) {
	for _, c := range []struct {
		about, pattern, flags, text string
		want                        []int
	}{
		{"a look-ahead is no part of the match", `foo(?=bar)`, "", "foo foobar", []int{4, 7}},
		{"a negative look-ahead", `foo(?!bar)`, "", "foobar foo", []int{7, 10}},
		{"a look-behind looks at the text before", `(?<=é)b`, "", "b éb", []int{4, 5}},
		{"the alternatives of a look-behind may differ in length", `(?<=a|bc)d`, "", "d bcd", []int{4, 5}},
		{"a back reference matches the same text", `(.+)-\1$`, "", "xab-ab", []int{1, 6, 1, 3}},
		{"a back reference in any case", `(F)\1`, "i", "fF", []int{0, 2, 0, 1}},
		{"a back reference to a group that took no part matches nothing", `(a)?\1b`, "", "b", nil},
		{"a reference counted back from where it stands", `(a)(b)\g{-1}`, "", "abb", []int{0, 3, 0, 1, 1, 2}},
		{"an atomic group keeps what it has", `(?>a*)ab`, "", "aab", nil},
		{"a possessive quantifier keeps what it has", `a*+ab`, "", "aab", nil},
		{"a group in a look-ahead captures", `(?=(a))a`, "", "a", []int{0, 1, 0, 1}},
		{"a group in a negative look-ahead does not", `(?!(b))a`, "", "a", []int{0, 1, -1, -1}},
		{"a group that failed is as before", `(?:(a)b|a)c`, "", "ac", []int{0, 2, -1, -1}},
		{"a group that failed within a group is as before", `(?:(?=(a))ab|a)(?!x)`, "", "ac", []int{0, 1, -1, -1}},
		{"a group in a condition whose branch failed is as before", `(?:(?(?=(a))b|c)|a)(?!x)`, "", "a", []int{0, 1, -1, -1}},
		{"a loop in a loop", `(?:(?:(a)|b){2}c?+)*(?=d)`, "", "abcbad", []int{0, 5, 4, 5}},
		{"a repetition that failed is as before", `(?:a|ab){2}(?=c)`, "", "abac", []int{0, 3}},
		{"a loop that is left and entered again", `(?:(a{1,2})+?b)+?\1(?!a)`, "", "abaaba", []int{0, 6, 3, 4}},
		{"a condition asks for a group", `(a)?(?(1)b|c)`, "", "xc", []int{1, 2, -1, -1}},
		{"a condition asks for a name", `(?<n>a)?(?(<n>)b|c)`, "", "ab", []int{0, 2, 0, 1}},
		{"a dollar matches before the last newline", `a$(?!b)`, "", "a\n", []int{0, 1}},
		{`\z does not`, `a\z(?!b)`, "", "a\n", nil},
		{"a multiline ^ does not match behind the last newline", `(?!x)^`, "m", "\n", []int{0, 0}},
		{"a lazy quantifier takes as little as it can", `a+?(?=a*b)`, "", "aab", []int{0, 1}},
		{"a repetition that matches nothing ends", `(?:a?)*(?=b)`, "", "b", []int{0, 0}},
	} {
		t.Run(c.about, func(t *testing.T) {
			p, err := Compile(c.pattern, c.flags)
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Find(c.text, 0, nil)
			if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestAnInvalidPatternIsRefusedInPCREsWords(t *testing.T) {
	for pattern, want := range map[string]error{
		`(?<=a+)b`: notFixed, `(?<!(a|bc))d`: notFixed, `(a)\2`: noSuchGroup, `\k<n>`: noSuchGroup, `(?=a`: Fault("missing closing parenthesis"),
		`a**`: notRepeatable, `\y`: unknownEscape, `a{70000}`: Fault("number too big in {} quantifier"),
		`(?<a>b)(?<a>c)`: Fault("two named subpatterns have the same name (PCRE2_DUPNAMES not set)"),
		`(?R)`:           ErrUnsupported, `a\Kb`: ErrUnsupported, `(*UCP)a`: ErrUnsupported, `[a-z-[b]]`: ErrUnsupported,
	} {
		if _, err := Compile(pattern, ""); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", pattern, err, want)
		}
	}
}

func TestASearchEndsWhereItsStepsMust(t *testing.T) {
	p, err := Compile(`(?=a)(a+)+$`, "")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("a", 40) + "b"
	if _, err := p.Find(text, 0, nil); !errors.Is(err, ErrMatchLimit) {
		t.Errorf("got %v, want %v", err, ErrMatchLimit)
	}
	enough := errors.New("enough")
	steps := 0
	_, err = p.Find(text, 0, func(n int) error {
		if steps += n; steps > 10_000 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || steps > 10_000+2*stepsPerCall {
		t.Errorf("got %v after %d steps, want %v after 10,000", err, steps, enough)
	}
}

func TestAWayThatIsTriedAllocatesNothing(t *testing.T) {
	enough := errors.New("enough")
	for _, pattern := range []string{`(?=a)(a+)+$`, `(?!b)(a|aa)+$`, `(?:(?>a)|a)+$(?!b)`, `(?:(a+?)\1?)+$`, `(?:(?(?=aa)a|a)|a)*$`} {
		p, err := Compile(pattern, "")
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Repeat("a", 40) + "b"
		allocated := testing.AllocsPerRun(1, func() {
			steps := 0
			_, err = p.Find(text, 0, func(n int) error {
				if steps += n; steps > 10_000 {
					return enough
				}
				return nil
			})
		})
		if !errors.Is(err, enough) || allocated > 18 {
			t.Errorf("%s: got %v and %.0f allocations in 10,000 steps, want %v and at most 18", pattern, err, allocated, enough)
		}
	}
}

func TestASearchInALongTextIsBoundInDepth(t *testing.T) {
	p, err := Compile(`(?:a|b(?=c))*d`, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Find(strings.Repeat("a", 1<<20), 0, nil); !errors.Is(err, ErrMatchLimit) {
		t.Errorf("got %v, want %v", err, ErrMatchLimit)
	}
}

// FuzzFind compares what both engines can do.
func FuzzFind(f *testing.F) {
	f.Add(`(a|b)*c?`, "abc")
	f.Add(`[^a]+?\b(?i:X)`, "bx X")
	f.Add(`(?:(a)|(b\w))+\d{1,3}`, "abz12")
	f.Add(`(?<=a)b(?!c)`, "ab\n")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 30 || len(text) > 30 || !utf8.ValidString(pattern) || !utf8.ValidString(text) {
			return
		}
		p, err := Compile(pattern, "")
		if err != nil {
			return
		}
		got, err := p.Find(text, 0, nil)
		if err != nil || strings.ContainsAny(pattern, `?$^\*+{[(`) { // they differ in empty repetitions and in classes
			return
		}
		if re, err := regexp.Compile(pattern); err == nil && fmt.Sprint(re.FindStringSubmatchIndex(text)) != fmt.Sprint(got) {
			t.Errorf("%q in %q: got %v, Go finds %v", pattern, text, got, re.FindStringSubmatchIndex(text))
		}
	})
}
