package query

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// regex is a regular expression.
type regex struct {
	source []byte // pattern and options, as in BSON
	re     *Regexp
}

func (r regex) test(v Value, m *Matching) bool {
	switch v.Type {
	case bson.TypeString, bson.TypeSymbol:
		text := stringBytes(v.Data)
		return r.re.matches(text, m) && utf8.Valid(text)
	case bson.TypeRegex:
		return bytes.Equal(v.Data, r.source)
	}
	return false
}

func parseRegexValue(v Value) (*leaf, error) {
	pattern, options := v.Regex()
	return compileRegex(pattern, options)
}

// parseRegex compiles $regex, with the $options that stand before or behind it in the whole expression.
func parseRegex(v Value, whole []byte) (condition, error) {
	flags, options := "", Lookup(whole, "$options")
	if !options.Missing() {
		if options.Type != bson.TypeString {
			return nil, mongoerr.Errorf(mongoerr.BadValue, "$options has to be a string")
		}
		flags = string(options.Text())
	}
	switch v.Type {
	case bson.TypeString:
		return compileRegex(string(v.Text()), flags)
	case bson.TypeRegex:
		pattern, own := v.Regex()
		it := wire.Elements(whole)
		it.Next()
		behind := string(it.Key) == "$regex" && !options.Missing()
		if len(own) > 0 && (flags != "" || behind) {
			code := int32(51074)
			if behind {
				code = 51075
			}
			return nil, mongoerr.Errorf(code, "options set in both $regex and $options")
		}
		return compileRegex(pattern, own+flags)
	}
	return nil, mongoerr.Errorf(mongoerr.BadValue, "$regex has to be a string")
}

func compileRegex(pattern, options string) (*leaf, error) {
	if strings.Contains(pattern, "\x00") {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "Regular expression cannot contain an embedded null byte")
	}
	re, fault, err := CompileRegex("", pattern, options)
	switch {
	case err != nil:
		return nil, err
	case fault != "":
		return nil, mongoerr.Errorf(InvalidRegex, "Regular expression is invalid: %s", fault)
	}
	return &leaf{predicate: regex{[]byte(pattern + "\x00" + options + "\x00"), re}, expand: true}, nil
}
