package query

import (
	"bytes"
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/wire"
)

// regex is a regular expression; PCRE's syntax as far as Go has it.
type regex struct {
	source []byte // pattern and options, as in BSON
	re     *regexp.Regexp
}

func (r regex) test(v Value) bool {
	switch v.Type {
	case bson.TypeString, bson.TypeSymbol:
		text := stringBytes(v.Data)
		return r.re.Match(text) && utf8.Valid(text)
	case bson.TypeRegex:
		return bytes.Equal(v.Data, r.source)
	}
	return false
}

func parseRegexValue(v Value) (*leaf, error) {
	pattern, rest, _ := bytes.Cut(v.Data, []byte{0})
	options, _, _ := bytes.Cut(rest, []byte{0})
	return compileRegex(string(pattern), string(options))
}

// parseRegex compiles $regex, with the $options that stand before or behind it in the whole expression.
func parseRegex(v Value, whole []byte) (condition, error) {
	flags, options := "", Lookup(whole, "$options")
	if !options.Missing() {
		if options.Type != bson.TypeString {
			return nil, fail(BadValue, "$options has to be a string")
		}
		flags = string(options.Text())
	}
	switch v.Type {
	case bson.TypeString:
		return compileRegex(string(v.Text()), flags)
	case bson.TypeRegex:
		pattern, rest, _ := bytes.Cut(v.Data, []byte{0})
		own, _, _ := bytes.Cut(rest, []byte{0})
		it := wire.Elements(whole)
		it.Next()
		behind := string(it.Key) == "$regex" && !options.Missing()
		if len(own) > 0 && (flags != "" || behind) {
			code := int32(51074)
			if behind {
				code = 51075
			}
			return nil, fail(code, "options set in both $regex and $options")
		}
		return compileRegex(string(pattern), string(own)+flags)
	}
	return nil, fail(BadValue, "$regex has to be a string")
}

func compileRegex(pattern, options string) (*leaf, error) {
	source := []byte(pattern + "\x00" + options + "\x00")
	flags, free := "", false
	for _, o := range options {
		switch o {
		case 'i', 'm', 's':
			flags += string(o)
		case 'u':
		case 'x':
			free = true
		default:
			return nil, fail(51108, " invalid flag in regex options: %c", o)
		}
	}
	if free {
		pattern = withoutSpace(pattern)
	}
	if flags != "" {
		pattern = "(?" + flags + ")" + pattern
	}
	re, refused, err := compilePattern(pattern)
	switch {
	case err != nil:
		return nil, err
	case refused != "":
		return nil, fail(InvalidRegex, "Regular expression is invalid: %s", refused)
	}
	return &leaf{predicate: regex{source, re}, expand: true}, nil
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

// compilePattern returns the compiled pattern, or what makes it invalid, or the refusal of what only PCRE has.
func compilePattern(pattern string) (*regexp.Regexp, string, error) {
	re, err := regexp.Compile(pattern)
	if err == nil {
		return re, "", nil
	}
	var fault *syntax.Error
	if errors.As(err, &fault) && patternFaults[fault.Code] != "" {
		return nil, patternFaults[fault.Code], nil
	}
	return nil, "", unsupported("the regular expression", pattern)
}

// withoutSpace removes what the option x makes no part of a pattern: white space, and comments up to the end of a line.
func withoutSpace(pattern string) string {
	var out strings.Builder
	class, comment := false, false
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case comment:
			comment = c != '\n'
			continue
		case c == '\\' && i+1 < len(pattern):
			out.WriteByte(c)
			i++
			c = pattern[i]
		case c == '[':
			class = true
		case c == ']':
			class = false
		case class:
		case c == '#':
			comment = true
			continue
		case strings.IndexByte(" \t\n\v\f\r", c) >= 0:
			continue
		}
		out.WriteByte(c)
	}
	return out.String()
}
