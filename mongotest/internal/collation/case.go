package collation

import (
	"bytes"
	"unicode"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// https://unicode.org/reports/tr35/tr35-collation.html#Case_Parameters

// casing makes sort keys that tell the cases of letters apart on a level of their own: behind the second level, or
// behind the first if the strength is 1. Upper case comes first or last.
type casing struct {
	levels     *collate.Collator // the levels that come before that of the cases
	primary    *collate.Collator
	upperFirst bool
	each       bool // case and third level of each character come together, as without a level for the cases
	tertiary   *collate.Collator
	buffer     collate.Buffer
}

func newCasing(s *specification, tag language.Tag) *casing {
	return &casing{
		levels: atStrength(tag, min(s.strength, 2)), primary: atStrength(tag, 1), tertiary: atStrength(tag, 3),
		upperFirst: s.caseFirst == "upper", each: !s.caseLevel,
	}
}

// atStrength returns the collator of a tag with another strength.
func atStrength(tag language.Tag, strength int64) *collate.Collator {
	tag, _ = tag.SetTypeForKey("ks", strengths[strength-1]) // the types are known ones
	return collate.New(tag, collate.OptionsFromTag(tag))
}

// key returns the sort key of a text whose key without cases is known.
func (c *casing) key(text, whole []byte) []byte {
	key := appendPart(nil, c.of(c.levels, text))
	var cases []byte
	for _, r := range string(norm.NFD.Bytes(text)) {
		one := []byte(string(r))
		letters := len(c.of(c.primary, one)) / 2 // none of a mark or of what does not count, two of a ligature
		switch {
		case letters > 0 && c.each:
			cases = append(append(cases, c.weight(r)), third(c.of(c.tertiary, one))...)
		default:
			cases = append(cases, bytes.Repeat([]byte{c.weight(r)}, letters)...)
		}
	}
	return append(appendPart(key, cases), whole...)
}

// of returns a copy of the sort key by a collator.
func (c *casing) of(by *collate.Collator, text []byte) []byte {
	c.buffer.Reset()
	return bytes.TrimRight(bytes.Clone(by.Key(&c.buffer, text)), "\x00")
}

// weight orders cases: lower, mixed, upper, or the other way round.
func (c *casing) weight(r rune) byte {
	weight := byte(1)
	switch {
	case unicode.IsTitle(r):
		weight = 2
	case unicode.IsUpper(r):
		weight = 3
	}
	if c.upperFirst {
		return 4 - weight
	}
	return weight
}

// third returns the third level of a sort key.
func third(key []byte) []byte {
	if i := bytes.LastIndex(key, []byte{0, 0}); i >= 0 {
		return key[i+2:]
	}
	return nil
}

// appendPart appends a part of a key so that keys whose first parts differ have the order of these.
func appendPart(dst, part []byte) []byte {
	dst = append(dst, bytes.ReplaceAll(part, []byte{0}, []byte{0, 0xff})...)
	return append(dst, 0, 0)
}
