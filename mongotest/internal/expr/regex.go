package expr

import (
	"slices"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/textfind"
)

var regexOperators = []operator{
	matcher("$regexMatch", no, func(f *textfind.Search) (Value, error) {
		found, err := f.From(0)
		return boolean(found != nil), err
	}),
	matcher("$regexFind", null, func(f *textfind.Search) (Value, error) {
		found, err := f.From(0)
		if found == nil || err != nil {
			return null, err
		}
		return match(f.Text, found, utf8.RuneCountInString(f.Text[:found[0]])), nil
	}),
	matcher("$regexFindAll", array(nil), findAll),
}

// matcher is an operator of a string and a regular expression; none is the result where one of them is null.
func matcher(name string, none Value, find func(*textfind.Search) (Value, error)) operator {
	required := func(code int32) refusal { return refusal{code, "%[1]s requires '%[2]s' parameter"} }
	s := signature{
		notObject: refusal{51103, "%[1]s expects an object of named arguments but found: %[2]s"},
		unknown:   refusal{31024, "%[1]s found an unknown argument: %[2]s"},
		params:    []parameter{{name: "input", absent: required(31022)}, {name: "regex", absent: required(31023)}, {name: "options"}},
	}
	return operator{name: name, optimize: compiledAhead, parse: s.parse, long: func(env *Env, args []Value) (Value, error) {
		input := args[0]
		re, err := compiled(name, args[1], args[2])
		switch {
		case err != nil:
			return missing, err
		case !input.IsNullish() && !input.IsString():
			return missing, mongoerr.Errorf(51104, "%s needs 'input' to be of type string", name)
		case re == nil || input.IsNullish():
			return none, nil
		}
		s := string(input.Text())
		if err := textfind.CheckSubject(name, s); err != nil {
			return missing, err
		}
		return find(textfind.NewSearch(name, env.Work, re, s))
	}}
}

// compiledAhead compiles a constant regular expression, only to find an error in it.
func compiledAhead(o *optimizer, c *call) (Expression, error) {
	if err := o.all(c.args); err != nil {
		return nil, err
	}
	regex, ok := c.args[1].(constant)
	flags, both := c.args[2].(constant)
	if !ok || !both {
		return c, nil
	}
	_, err := compiled(c.op.name, regex.value, flags.value)
	return c, err
}

// compiled returns a regular expression, nil for null.
func compiled(name string, regex, flags Value) (*query.Regexp, error) {
	pattern, options, err := patternOf(name, regex, otherwise(flags, null))
	if err != nil || regex.IsNullish() {
		return nil, err
	}
	return compile(name, pattern, options)
}

func patternOf(name string, regex, flags Value) (pattern, options string, err error) {
	switch {
	case regex.Type == bson.TypeRegex:
		pattern, options = regex.Regex()
	case regex.IsString():
		pattern = string(regex.Text())
		if strings.Contains(pattern, "\x00") {
			return "", "", mongoerr.Errorf(51109, "%s: regular expression cannot contain an embedded null byte", name)
		}
	case !regex.IsNullish():
		return "", "", mongoerr.Errorf(51105, "%s needs 'regex' to be of type string or regex", name)
	}
	switch {
	case flags.IsNullish():
	case !flags.IsString():
		return "", "", mongoerr.Errorf(51106, "%s needs 'options' to be of type string", name)
	case options != "":
		return "", "", mongoerr.Errorf(51107, "%s: found regex option(s) specified in both 'regex' and 'option' fields", name)
	default:
		options = string(flags.Text())
		if strings.Contains(options, "\x00") {
			return "", "", mongoerr.Errorf(51110, "%s: regular expression options cannot contain an embedded null byte", name)
		}
	}
	return pattern, options, nil
}

// compile returns the regular expression of an operator.
func compile(name, pattern, options string) (*query.Regexp, error) {
	if fault := textfind.Utf8Fault(pattern); fault != "" {
		return nil, mongoerr.Errorf(51111, "Invalid Regex in %s: %s", name, fault)
	}
	re, fault, err := query.CompileRegex(name, pattern, options)
	if fault != "" {
		return nil, mongoerr.Errorf(51111, "Invalid Regex in %s: %s", name, fault)
	}
	return re, err
}

// findAll returns the matches in turn. One that is empty is followed by a search behind the next character. No search begins at
// the very end, but one may find a match there.
func findAll(f *textfind.Search) (Value, error) {
	start, all := wire.BeginDocument(nil)
	matches := 0
	counted, before := 0, 0 // how far the characters are counted, and how many they are
	for at := 0; at < len(f.Text) || at == 0; {
		found, err := f.From(at)
		if err != nil {
			return missing, err
		}
		if found == nil {
			break
		}
		before += utf8.RuneCountInString(f.Text[counted:found[0]])
		counted = found[0]
		all = appendMatch(wire.AppendValue(roomier(all), wire.ArrayKey(matches), bson.TypeEmbeddedDocument, nil), f.Text, found, before)
		matches++
		if at = found[1]; found[0] == found[1] {
			_, n := utf8.DecodeRuneInString(f.Text[at:])
			at += max(n, 1)
		}
	}
	return Value{Type: bson.TypeArray, Data: wire.EndDocument(all, start)}, nil
}

// roomier gives a list that is nearly full twice its room. A long one would else be copied often, and nothing else runs meanwhile.
func roomier(list []byte) []byte {
	if room := cap(list) - len(list); room < 1<<10 {
		return slices.Grow(list, max(1<<10, len(list)))
	}
	return list
}

// match describes a match as $regexFind gives it, with the number of characters before it.
func match(s string, found []int, before int) Value {
	return query.Document(appendMatch(nil, s, found, before))
}

func appendMatch(dst []byte, s string, found []int, before int) []byte {
	at, dst := query.BeginMade(dst)
	dst = wire.AppendString(dst, "match", s[found[0]:found[1]])
	dst = wire.AppendInt32(dst, "idx", int32(before))
	list, dst := wire.BeginArray(dst, "captures")
	for i := 2; i < len(found); i += 2 {
		key := wire.ArrayKey(i/2 - 1)
		if found[i] < 0 {
			dst = wire.AppendValue(dst, key, bson.TypeNull, nil)
			continue
		}
		dst = wire.AppendString(dst, key, s[found[i]:found[i+1]])
	}
	return wire.EndDocument(wire.EndDocument(dst, list), at)
}

// splitRegex splits at each match, also at empty ones; what groups caught stands between the parts.
func splitRegex(env *Env, s string, by Value) (Value, error) {
	pattern, options := by.Regex()
	re, err := compile("$split", pattern, options)
	if err != nil {
		return missing, err
	}
	if err := textfind.CheckSubject("$split", s); err != nil {
		return missing, err
	}
	var parts []string
	at := 0
	err = textfind.NewSearch("$split", env.Work, re, s).All(func(found []int) bool {
		parts = append(parts, s[at:found[0]])
		for i := 2; i < len(found); i += 2 {
			parts = append(parts, s[max(0, found[i]):max(0, found[i+1])])
		}
		at = found[1]
		return true
	})
	return texts(append(parts, s[at:])), err
}

func replaceRegex(env *Env, name, s string, find Value, by string, n int) (Value, error) {
	pattern, options := find.Regex()
	re, err := compile(name, pattern, options)
	if err != nil {
		return missing, err
	}
	if err := textfind.CheckSubject(name, s); err != nil {
		return missing, err
	}
	var b strings.Builder
	at := 0
	err = textfind.NewSearch(name, env.Work, re, s).All(func(found []int) bool {
		b.WriteString(s[at:found[0]])
		b.WriteString(by)
		at = found[1]
		n--
		return n != 0 && b.Len() <= maxValue
	})
	b.WriteString(s[at:])
	return query.Text(b.String()), err
}
