package query

import (
	"bytes"
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
)

// Regex returns the pattern and the options of a regular expression.
func (v Value) Regex() (pattern, options string) {
	p, rest, _ := bytes.Cut(v.Data, []byte{0})
	o, _, _ := bytes.Cut(rest, []byte{0})
	return string(p), string(o)
}

// CompileRegex compiles what the operator of a name, "" for a filter's, gives as a pattern in PCRE's syntax and its options, as
// far as Go has it. It returns what makes the pattern invalid in the real server's words, or an error: the refusal of an
// option, or of a pattern that only PCRE has.
func CompileRegex(operator, pattern, options string) (re *regexp.Regexp, fault string, err error) {
	flags := ""
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
	re, err = regexp.Compile(pattern)
	if err == nil {
		return re, "", nil
	}
	var refused *syntax.Error
	if errors.As(err, &refused) && patternFaults[refused.Code] != "" {
		return nil, patternFaults[refused.Code], nil
	}
	return nil, "", unsupported("the regular expression", pattern)
}

// patternFaults are the real server's words for what makes a pattern invalid to both.
var patternFaults = map[syntax.ErrorCode]string{
	syntax.ErrMissingParen:          "missing closing parenthesis",
	syntax.ErrUnexpectedParen:       "unmatched closing parenthesis",
	syntax.ErrMissingBracket:        "missing terminating ] for character class",
	syntax.ErrMissingRepeatArgument: "quantifier does not follow a repeatable item",
	syntax.ErrTrailingBackslash:     "\\ at end of pattern",
	syntax.ErrInvalidCharRange:      "range out of order in character class",
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
