package backtrack

import (
	"errors"

	"github.com/dlclark/regexp2/v2/syntax"
)

// ErrUnsupported is the error for a pattern that PCRE may have and this package has not.
var ErrUnsupported = errors.New("backtrack: the pattern is not supported")

// Fault is the error for an invalid pattern. Its text is PCRE's.
type Fault string

// Error returns PCRE's text.
func (f Fault) Error() string { return string(f) }

// Program is a compiled regular expression.
type Program struct {
	root   matcher
	groups int // how many groups capture, with the whole match
	loops  int
}

// Compile compiles a pattern in PCRE's syntax. The flags are some of the letters i, m, s and x. The error is a Fault or ErrUnsupported.
func Compile(pattern, flags string) (*Program, error) {
	translated, err := translate(pattern)
	if err != nil {
		return nil, err
	}
	tree, err := parse(translated, optionsOf(flags))
	if err != nil {
		return nil, err
	}
	if err := fixedLookbehinds(translated, optionsOf(flags)); err != nil {
		return nil, err
	}
	var c compiler
	root := c.node(tree.Root, accept)
	if c.unsupported {
		return nil, ErrUnsupported
	}
	return &Program{root, tree.Captop, c.loops}, nil
}

func optionsOf(flags string) syntax.RegexOptions {
	options := syntax.RE2 // \d, \s and \w are those of ASCII
	for _, f := range flags {
		switch f {
		case 'i':
			options |= syntax.IgnoreCase
		case 'm':
			options |= syntax.Multiline
		case 's':
			options |= syntax.Singleline
		case 'x':
			options |= syntax.IgnorePatternWhitespace
		}
	}
	return options
}

func parse(pattern string, options syntax.RegexOptions) (*syntax.RegexTree, error) {
	tree, err := syntax.Parse(pattern, syntax.ParseOptions{RegexOptions: options, MaintainCaptureOrder: true})
	var refused *syntax.Error
	switch {
	case err == nil && tree.Capnumlist != nil && tree.Captop != len(tree.Capnumlist): // groups with numbers of their own, which PCRE has not
		return nil, ErrUnsupported
	case err == nil:
		return tree, nil
	case errors.As(err, &refused) && faults[refused.Code] != "":
		return nil, faults[refused.Code]
	}
	return nil, ErrUnsupported
}

const (
	noSuchGroup   Fault = "reference to non-existent subpattern"
	notRepeatable Fault = "quantifier does not follow a repeatable item"
	notFixed      Fault = "lookbehind assertion is not fixed length"
	unknownEscape Fault = "unrecognized character follows \\"
)

// faults are PCRE's texts for the errors of the library that reads the syntax.
var faults = map[syntax.ErrorCode]Fault{
	syntax.ErrMissingParen:              "missing closing parenthesis",
	syntax.ErrUnexpectedParen:           "unmatched closing parenthesis",
	syntax.ErrUnterminatedBracket:       "missing terminating ] for character class",
	syntax.ErrMissingRepeatArgument:     notRepeatable,
	syntax.ErrInvalidRepeatOp:           notRepeatable,
	syntax.ErrInvalidRepeatSize:         "numbers out of order in {} quantifier",
	syntax.ErrIllegalEndEscape:          "\\ at end of pattern",
	syntax.ErrMissingControl:            "\\c at end of pattern",
	syntax.ErrReversedCharRange:         "range out of order in character class",
	syntax.ErrBadClassInCharRange:       "invalid range in character class",
	syntax.ErrShorthandClassInCharRange: "invalid range in character class",
	syntax.ErrUndefinedBackRef:          noSuchGroup,
	syntax.ErrUndefinedNameRef:          noSuchGroup,
	syntax.ErrUndefinedReference:        noSuchGroup,
	syntax.ErrTooManyAlternates:         "conditional subpattern contains more than two branches",
	syntax.ErrUnknownSlashP:             "unknown property after \\P or \\p",
	syntax.ErrInvalidHex:                "character code point value in \\x{} or \\o{} is too large",
	syntax.ErrUnrecognizedEscape:        unknownEscape,
	syntax.ErrUnrecognizedGrouping:      "unrecognized character after (? or (?-",
}
