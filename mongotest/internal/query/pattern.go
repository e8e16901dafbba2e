package query

import (
	"bytes"
	"errors"
	"regexp"
	"strings"

	"github.com/holdfast-db/holdfast/mongotest/internal/backtrack"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// Regex returns the pattern and the options of a regular expression.
func (v Value) Regex() (pattern, options string) {
	p, rest, _ := bytes.Cut(v.Data, []byte{0})
	o, _, _ := bytes.Cut(rest, []byte{0})
	return string(p), string(o)
}

// longestPattern is how many bytes a pattern may have.
const longestPattern = 32764

// CompileRegex compiles what the operator of a name, "" for a filter's, gives as a pattern in PCRE's syntax and its options.
// It returns what makes the pattern invalid in the real server's words, or an error: the refusal of an option, or of a pattern
// that only PCRE has.
func CompileRegex(operator, pattern, options string) (re *Regexp, fault string, err error) {
	if len(pattern) > longestPattern {
		return nil, "pattern string is longer than the limit set by the application", nil
	}
	flags, whole := "", pattern
	for _, o := range options {
		switch o {
		case 'i', 'm', 's':
			flags += string(o)
		case 'u':
		case 'x':
			pattern = withoutSpace(pattern)
		default:
			return nil, "", mongoerr.Errorf(51108, "%s invalid flag in regex options: %c", operator, o)
		}
	}
	if flags != "" {
		pattern = "(?" + flags + ")" + pattern
	}
	fast, err := regexp.Compile(pattern)
	if err != nil || strings.Contains(whole, "(?P<") || strings.Contains(whole, "(?<") { // PCRE has other rules for names
		return compileSlow(fast, whole, options)
	}
	return newRegexp(fast, whole, options), "", nil
}

// compileSlow compiles a pattern for a search by backtracking. That is needed if fast is nil.
func compileSlow(fast *regexp.Regexp, pattern, flags string) (re *Regexp, fault string, err error) {
	re = newRegexp(fast, pattern, flags)
	var refused backtrack.Fault
	switch _, err := re.slow(); {
	case err == nil, fast != nil && errors.Is(err, backtrack.ErrUnsupported):
		return re, "", nil
	case errors.As(err, &refused):
		return nil, refused.Error(), nil
	}
	return nil, "", unsupported("the regular expression", pattern)
}

// withoutSpace removes what the option x makes no part of a pattern: white space outside classes, and comments up to the end of
// a line.
func withoutSpace(pattern string) string {
	var b strings.Builder
	class, comment := false, false
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case comment:
			comment = c != '\n'
		case c == '\\' && i+1 < len(pattern):
			i++
			if next := pattern[i]; next != ' ' && next != '#' { // Go has no escapes of these
				b.WriteByte(c)
			}
			b.WriteByte(pattern[i])
		case class || strings.IndexByte(" \t\n\v\f\r#", c) < 0:
			b.WriteByte(c)
			class = c == '[' || class && c != ']'
		case c == '#':
			comment = true
		}
	}
	return b.String()
}
