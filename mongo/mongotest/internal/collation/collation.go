package collation

import (
	"strings"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// Collation is a compiled collation. It is safe for concurrent use.
type Collation struct {
	spec     specification
	mu       sync.Mutex // the collator keeps what it works with
	collator *collate.Collator
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
}

// Parse compiles a collation document; nil without error for one that compares bytes: the empty one, and the locale "simple".
func Parse(doc []byte) (*Collation, error) {
	s := specification{caseFirst: "off", strength: 3, alternate: "non-ignorable", maxVariable: "punct"}
	s.backwards = string(query.Lookup(doc, "locale").Text()) == "fr_CA"
	it := wire.Elements(doc)
	for it.Next() {
		name := string(it.Key)
		if it.Type == bson.TypeNull && name != "backwards" {
			continue
		}
		if err := s.field(name, query.Of(it.Element)); err != nil {
			return nil, err
		}
	}
	switch {
	case it.Err != nil:
		return nil, it.Err
	case len(doc) <= 5:
		return nil, nil
	case s.locale == "" && query.Lookup(doc, "locale").Type == bson.TypeString:
		return nil, invalidLocale("cannot be the empty string", doc)
	case s.locale == "":
		return nil, mongoerr.Errorf(mongoerr.MissingField, "BSON field 'collation.locale' is missing but a required field")
	case s.locale == "simple":
		return nil, nil
	}
	return s.compile(doc)
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
		return truth(name, v, &s.caseLevel)
	case "numericOrdering":
		return truth(name, v, &s.numericOrdering)
	case "normalization":
		return truth(name, v, &s.normalization)
	case "backwards":
		if v.Type != bson.TypeBoolean {
			return mongoerr.Errorf(mongoerr.TypeMismatch, "Field 'backwards' should be a boolean value, but found: %s", query.TypeName(v.Type))
		}
		s.backwards = v.True()
		return nil
	case "strength":
		return s.parseStrength(v)
	case "version":
		return s.text(name, v, &s.version)
	default:
		return mongoerr.Errorf(mongoerr.UnknownField, "BSON field 'collation.%s' is an unknown field.", name)
	}
}

func (s *specification) parseStrength(v query.Value) error {
	switch s.strength = int64(v.Clamped32()); {
	case !v.IsNumber():
		return mongoerr.Errorf(mongoerr.TypeMismatch,
			"BSON field 'collation.strength' is the wrong type '%s', expected types '[decimal, double, long, int]'",
			query.TypeName(v.Type))
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
		return wrongType(name, v, "string")
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
	return mongoerr.Errorf(mongoerr.BadValue, "Enumeration value '%s' for field 'collation.%s' is not a valid value.", *to, name)
}

func truth(name string, v query.Value, to *bool) error {
	if v.Type != bson.TypeBoolean {
		return wrongType(name, v, "bool")
	}
	*to = v.True()
	return nil
}

// compile makes the collator, by the options' names in language tags.
func (s *specification) compile(doc []byte) (*Collation, error) {
	tag, err := language.Parse(strings.ReplaceAll(s.locale, "_", "-"))
	if err != nil {
		return nil, invalidLocale("is invalid", doc)
	}
	switch {
	case s.version != "" && s.version != version:
		return nil, mongoerr.Errorf(mongoerr.IncompatibleCollationVersion,
			"Requested collation version %s but the only available collator version was %s. Requested collation "+
				"spec: %s", s.version, version, query.Document(doc))
	case s.backwards && s.strength == 1:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "'backwards' is invalid with 'strength' of 1 in: %s", query.Document(doc))
	case s.caseFirst != "off" && !s.caseLevel && s.strength < 3:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "'caseFirst' is invalid unless 'caseLevel' is on or 'strength' is greater than 2 in: %s",
			query.Document(doc))
	case s.caseLevel:
		return nil, unsupported("caseLevel: true")
	case s.caseFirst != "off":
		return nil, unsupported("caseFirst: '" + s.caseFirst + "'")
	case s.maxVariable != "punct" && s.alternate == "shifted":
		return nil, unsupported("maxVariable: 'space'")
	case !known(tag):
		return nil, unsupported("locale: '" + s.locale + "'")
	}
	for _, o := range s.options() {
		if tag, err = tag.SetTypeForKey(o[0], o[1]); err != nil {
			return nil, unsupported(o[0] + " " + o[1])
		}
	}
	return &Collation{spec: *s, collator: collate.New(tag, collate.OptionsFromTag(tag))}, nil
}

func invalidLocale(how string, doc []byte) error {
	return mongoerr.Errorf(mongoerr.BadValue, "Field 'locale' %s in: %s", how, query.Document(doc))
}

// options are the collation's options as keys and types of the extension u of language tags.
func (s *specification) options() [][2]string {
	list := [][2]string{{"ks", [...]string{"level1", "level2", "level3", "level4", "identic"}[s.strength-1]}}
	for key, on := range map[string]bool{"kn": s.numericOrdering, "kb": s.backwards} {
		if on {
			list = append(list, [2]string{key, "true"})
		}
	}
	if s.alternate == "shifted" {
		list = append(list, [2]string{"ka", "shifted"})
	}
	return list
}

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

// Shown returns the whole specification, as listCollections and listIndexes show it.
func (c *Collation) Shown() []byte {
	s := &c.spec
	at, dst := wire.BeginDocument(nil)
	dst = wire.AppendString(dst, "locale", s.locale)
	dst = wire.AppendBool(dst, "caseLevel", s.caseLevel)
	dst = wire.AppendString(dst, "caseFirst", s.caseFirst)
	dst = wire.AppendInt32(dst, "strength", int32(s.strength))
	dst = wire.AppendBool(dst, "numericOrdering", s.numericOrdering)
	dst = wire.AppendString(dst, "alternate", s.alternate)
	dst = wire.AppendString(dst, "maxVariable", s.maxVariable)
	dst = wire.AppendBool(dst, "normalization", s.normalization)
	dst = wire.AppendBool(dst, "backwards", s.backwards)
	return wire.EndDocument(wire.AppendString(dst, "version", version), at)
}
