package collation

import (
	"bytes"
	"strings"
	"sync"
	"unicode"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Collation is a compiled collation. It is safe for concurrent use.
type Collation struct {
	spec     specification
	mu       sync.Mutex // the collator keeps what it works with
	collator *collate.Collator
	ignored  func(rune) bool // characters that are left out before; nil for none
	cased    *casing         // nil without caseLevel and caseFirst
	buffer   collate.Buffer
}

// specification is what a collation document says, with the defaults of what it does not.
type specification struct {
	locale          string
	caseLevel       bool
	caseFirst       string
	strength        int64
	numericOrdering bool
	alternate       string
	maxVariable     string
	normalization   bool
	backwards       bool
	version         string

	command string // of which it is the option; "" for one that the errors do not name
	said    bool   // backwards was said
}

// Parse compiles a collation document; nil without error for one that compares bytes: the empty one, and the locale "simple".
func Parse(doc []byte) (*Collation, error) {
	if len(doc) <= len(query.EmptyDocument) {
		return nil, nil
	}
	s := newSpecification("")
	if err := s.parse(doc); err != nil {
		return nil, err
	}
	return s.collation(doc)
}

// Option is a collation that a command has as an option.
type Option struct {
	Collation *Collation
	Requested []byte // as the command's errors have it
	Flaw      error  // why there is no such collation: an error that the command has later than those of single fields
}

// ParseOption is Parse of a command's option that must not be empty. Its errors name the command, and have what the document does not say.
func ParseOption(command string, doc []byte) (o Option, err error) {
	s := newSpecification(command)
	if err = s.parse(doc); err == nil {
		o.Requested = s.requested()
		o.Collation, o.Flaw = s.collation(doc)
	}
	return o, err
}

func newSpecification(command string) *specification {
	return &specification{command: command, caseFirst: "off", strength: 3, alternate: "non-ignorable", maxVariable: "punct"}
}

// parse reads the fields.
func (s *specification) parse(doc []byte) error {
	s.backwards = string(query.Lookup(doc, "locale").Text()) == "fr_CA"
	it := wire.Elements(doc)
	for it.Next() {
		name := string(it.Key)
		if it.Type == bson.TypeNull && name != "backwards" {
			continue
		}
		if err := s.field(name, query.Of(it.Element)); err != nil {
			return err
		}
	}
	switch {
	case it.Err != nil:
		return it.Err
	case s.locale == "" && query.Lookup(doc, "locale").Type == bson.TypeString:
		return s.invalidLocale("cannot be the empty string", doc)
	case s.locale == "":
		return mongoerr.Errorf(mongoerr.MissingField, "BSON field '%s' is missing but a required field", s.path("locale"))
	}
	return nil
}

func (s *specification) field(name string, v query.Value) error {
	switch name {
	case "locale":
		return s.text(name, v, &s.locale)
	case "caseFirst":
		return s.choice(name, v, &s.caseFirst, "upper", "lower", "off")
	case "alternate":
		return s.choice(name, v, &s.alternate, "non-ignorable", "shifted")
	case "maxVariable":
		return s.choice(name, v, &s.maxVariable, "punct", "space")
	case "caseLevel":
		return s.truth(name, v, &s.caseLevel)
	case "numericOrdering":
		return s.truth(name, v, &s.numericOrdering)
	case "normalization":
		return s.truth(name, v, &s.normalization)
	case "backwards":
		if v.Type != bson.TypeBoolean {
			return mongoerr.Errorf(mongoerr.TypeMismatch, "Field 'backwards' should be a boolean value, but found: %s", query.TypeName(v.Type))
		}
		s.backwards, s.said = v.True(), true
		return nil
	case "strength":
		return s.parseStrength(v)
	case "version":
		return s.text(name, v, &s.version)
	default:
		return mongoerr.Errorf(mongoerr.UnknownField, "BSON field '%s' is an unknown field.", s.path(name))
	}
}

func (s *specification) parseStrength(v query.Value) error {
	switch s.strength = int64(v.Clamped32()); {
	case !v.IsNumber():
		return mongoerr.Errorf(mongoerr.TypeMismatch,
			"BSON field '%s' is the wrong type '%s', expected types '[decimal, double, long, int]'",
			s.path("strength"), query.TypeName(v.Type))
	case s.strength < 0:
		return mongoerr.Errorf(mongoerr.BadValue, "BSON field 'strength' value must be >= 0, actual value '%d'", s.strength)
	case s.strength == 0:
		return mongoerr.Errorf(mongoerr.BadValue, "Enumeration value '%d' for field 'collation.strength' is not a valid value.", s.strength)
	case s.strength > 5:
		return mongoerr.Errorf(mongoerr.BadValue, "BSON field 'strength' value must be <= 5, actual value '%d'", s.strength)
	}
	return nil
}

func (s *specification) text(name string, v query.Value, to *string) error {
	if v.Type != bson.TypeString {
		return s.wrongType(name, v, "string")
	}
	*to = string(v.Text())
	return nil
}

func (s *specification) choice(name string, v query.Value, to *string, among ...string) error {
	if err := s.text(name, v, to); err != nil {
		return err
	}
	for _, c := range among {
		if *to == c {
			return nil
		}
	}
	return mongoerr.Errorf(mongoerr.BadValue, "Enumeration value '%s' for field '%s' is not a valid value.", *to, s.path(name))
}

func (s *specification) truth(name string, v query.Value, to *bool) error {
	if v.Type != bson.TypeBoolean {
		return s.wrongType(name, v, "bool")
	}
	*to = v.True()
	return nil
}

// collation is the compiled collation, nil without error for one that compares bytes.
func (s *specification) collation(doc []byte) (*Collation, error) {
	if s.locale == "simple" {
		return nil, nil
	}
	return s.compile(doc)
}

// compile makes the collator, by the options' names in language tags.
func (s *specification) compile(doc []byte) (*Collation, error) {
	tag, err := language.Parse(strings.ReplaceAll(s.locale, "_", "-"))
	if err != nil {
		return nil, s.invalidLocale("is invalid", doc)
	}
	switch {
	case s.version != "" && s.version != version:
		return nil, mongoerr.Errorf(mongoerr.IncompatibleCollationVersion,
			"Requested collation version %s but the only available collator version was %s. Requested collation "+
				"spec: %s", s.version, version, s.written(doc))
	case s.backwards && s.strength == 1:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "'backwards' is invalid with 'strength' of 1 in: %s", s.written(doc))
	case s.caseFirst != "off" && !s.caseLevel && s.strength < 3:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "'caseFirst' is invalid unless 'caseLevel' is on or 'strength' is greater than 2 in: %s",
			s.written(doc))
	case s.ignored() != nil && s.strength > 3:
		return nil, unsupported("strength of 4 or 5 and alternate: 'shifted', with numericOrdering or maxVariable: 'space',")
	case !known(tag):
		return nil, unsupported("locale: '" + s.locale + "'")
	}
	for _, o := range s.options() {
		if tag, err = tag.SetTypeForKey(o[0], o[1]); err != nil {
			return nil, unsupported(o[0] + " " + o[1])
		}
	}
	c := &Collation{spec: *s, collator: collate.New(tag, collate.OptionsFromTag(tag)), ignored: s.ignored()}
	if s.caseLevel || s.caseFirst != "off" {
		c.cased = newCasing(s, tag)
	}
	return c, nil
}

// ignored returns which characters have no weight, if package collate cannot leave them out itself: it has no maxVariable, and compares
// numbers wrongly beside characters that it leaves out.
func (s *specification) ignored() func(rune) bool {
	switch {
	case s.alternate != "shifted":
		return nil
	case s.maxVariable == "space":
		return unicode.IsSpace
	case s.numericOrdering:
		return func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) }
	}
	return nil
}

// options are the collation's options as keys and types of the extension u of language tags.
func (s *specification) options() [][2]string {
	list := [][2]string{{"ks", strengths[s.strength-1]}}
	for key, on := range map[string]bool{"kn": s.numericOrdering, "kb": s.backwards} {
		if on {
			list = append(list, [2]string{key, "true"})
		}
	}
	if s.alternate == "shifted" && s.ignored() == nil {
		list = append(list, [2]string{"ka", "shifted"})
	}
	return list
}

// strengths are the types of the key ks.
var strengths = [...]string{"level1", "level2", "level3", "level4", "identic"}

// known reports whether there are rules for a tag's language; most languages have those of the root.
func known(tag language.Tag) bool {
	base, confidence := tag.Base()
	if confidence == language.No {
		return false
	}
	for _, t := range collate.Supported() {
		if b, _ := t.Base(); b == base {
			return true
		}
	}
	return false
}

// version is that of the rules which the real server has.
const version = "57.1"

// Shown returns the whole specification, as listCollections and listIndexes show it; nil of a nil Collation.
func (c *Collation) Shown() []byte {
	if c == nil {
		return nil
	}
	at, dst := c.spec.begin()
	dst = wire.AppendBool(dst, "backwards", c.spec.backwards)
	return wire.EndDocument(wire.AppendString(dst, "version", version), at)
}

// requested returns the specification without what it does not say and a server finds out.
func (s *specification) requested() []byte {
	at, dst := s.begin()
	if s.said {
		dst = wire.AppendBool(dst, "backwards", s.backwards)
	}
	if s.version != "" {
		dst = wire.AppendString(dst, "version", s.version)
	}
	return wire.EndDocument(dst, at)
}

// begin writes the fields that each specification has.
func (s *specification) begin() (int, []byte) {
	at, dst := wire.BeginDocument(nil)
	dst = wire.AppendString(dst, "locale", s.locale)
	dst = wire.AppendBool(dst, "caseLevel", s.caseLevel)
	dst = wire.AppendString(dst, "caseFirst", s.caseFirst)
	dst = wire.AppendInt32(dst, "strength", int32(s.strength))
	dst = wire.AppendBool(dst, "numericOrdering", s.numericOrdering)
	dst = wire.AppendString(dst, "alternate", s.alternate)
	dst = wire.AppendString(dst, "maxVariable", s.maxVariable)
	return at, wire.AppendBool(dst, "normalization", s.normalization)
}

// Same reports whether two collations compare strings in the same way; nil is the one that compares bytes.
func Same(a, b *Collation) bool {
	if a == nil || b == nil {
		return a == b
	}
	return bytes.Equal(a.Shown(), b.Shown())
}

// Rule returns the collation as filters and sorts take it: without a value if strings are compared by their bytes.
func (c *Collation) Rule() query.Collation {
	if c == nil {
		return nil
	}
	return c
}

// simple is the specification of the collation that compares bytes.
var simple = wire.EndDocument(wire.AppendString([]byte{0, 0, 0, 0}, "locale", "simple"), 0)

// Text writes the whole specification as errors have it.
func (c *Collation) Text() string {
	if c == nil {
		return query.DocumentText(simple)
	}
	return query.DocumentText(c.Shown())
}
