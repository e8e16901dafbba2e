package query

import (
	"io"
	"regexp"
	"strings"
)

// A text of at least longText bytes is read rune by rune, so that the search can be ended, and so is one whose length times that of the pattern
// is at least longSearch. The regular expression then has no means to be faster than one rune after the other.
const (
	longText   = 256 << 10
	longSearch = 16 << 20
)

// patternPerStep is how many bytes of a pattern may take one step of work with each rune.
const patternPerStep = 32

func isLongSearch(re *regexp.Regexp, length int) bool {
	return length >= longText || length*len(re.String()) >= longSearch
}

// FirstMatch returns the first match in a text, as FindStringSubmatchIndex does. It ends with the work.
func FirstMatch(re *regexp.Regexp, s string, w *Work) ([]int, error) {
	if w == nil || !isLongSearch(re, len(s)) {
		found := re.FindStringSubmatchIndex(s)
		read := len(s)
		if found != nil {
			read = found[1]
		}
		return found, w.Do(1 + read/16)
	}
	prefix, _ := re.LiteralPrefix() // of an anchored pattern too
	at := strings.Index(s, prefix)
	switch {
	case at < 0:
		return nil, w.Bytes(len(s))
	case prefix == re.String():
		return []int{at, at + len(prefix)}, w.Bytes(at)
	}
	r := &textReader{work: w, text: strings.NewReader(s), steps: 1 + len(re.String())/patternPerStep}
	found := re.FindReaderSubmatchIndex(r)
	return found, r.err
}

// textReader is a text that ends where the work must end.
type textReader struct {
	work  *Work
	text  *strings.Reader
	steps int // of each rune
	err   error
}

// ReadRune returns the next rune.
func (r *textReader) ReadRune() (rune, int, error) {
	if r.err = r.work.Do(r.steps); r.err != nil {
		return 0, 0, io.EOF
	}
	return r.text.ReadRune()
}
