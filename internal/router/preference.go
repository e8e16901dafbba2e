package router

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/tag"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

const (
	// leastStaleness is the least maxStalenessSeconds (Max Staleness specification).
	leastStaleness = 90
	// mostStaleness replaces every larger number: no member is so stale, and the seconds fit into a time.Duration.
	mostStaleness = math.MaxInt32
)

var modes = map[string]readpref.Mode{
	"primary": readpref.PrimaryMode, "primaryPreferred": readpref.PrimaryPreferredMode, "secondary": readpref.SecondaryMode,
	"secondaryPreferred": readpref.SecondaryPreferredMode, "nearest": readpref.NearestMode,
}

// preferenceOf returns the read preference of a command. It follows the rules for a mongos in the read preferences document of 2014: a preference
// counts, with the slaveOk bit or without; the bit alone means secondaryPreferred; neither means primary.
func preferenceOf(c *command) (*readpref.ReadPref, *refusal) {
	switch {
	case c.preferenceType == 0 && c.slaveOk:
		return readpref.SecondaryPreferred(), nil
	case c.preferenceType == 0:
		return nil, nil //nolint:nilnil // nil is primary
	case c.preference == nil:
		return nil, typeMismatch("$readPreference has the BSON type %v, it must be a document", c.preferenceType)
	}
	return parsePreference(c.preference)
}

// givenPreference has the fields of $readPreference.
type givenPreference struct {
	seen      [fieldsOfPreference]bool
	mode      string
	tags      []tag.Set
	staleness int64
}

// The fields that $readPreference may have. Others are ignored.
const (
	modeField = iota
	tagsField
	stalenessField
	hedgeField
	fieldsOfPreference
)

// parsePreference validates $readPreference. Unknown fields are ignored.
func parsePreference(document []byte) (*readpref.ReadPref, *refusal) {
	var g givenPreference
	it := wire.Elements(document)
	for it.Next() {
		if err := g.take(&it.Element); err != nil {
			return nil, err
		}
	}
	if it.Err != nil {
		return nil, badValue("$readPreference: %v", it.Err)
	}
	mode, known := modes[g.mode]
	switch {
	case !g.seen[modeField]:
		return nil, &refusal{code: codeIDLFailedToParse, name: "IDLFailedToParse", text: "$readPreference has no mode"}
	case !known:
		return nil, badValue("$readPreference has the mode %q, which is unknown", g.mode)
	case mode == readpref.PrimaryMode:
		return nil, g.checkPrimary()
	}
	return g.build(mode)
}

// take reads one field.
func (g *givenPreference) take(e *wire.Element) *refusal {
	switch string(e.Key) {
	case "mode":
		if err := g.first(modeField, e); err != nil {
			return err
		}
		if e.Type != bson.TypeString {
			return typeMismatch("the mode in $readPreference has the BSON type %v, it must be a string", e.Type)
		}
		g.mode = string(e.Text())
	case "tags":
		return cmp.Or(g.first(tagsField, e), g.takeTags(e))
	case "maxStalenessSeconds":
		return cmp.Or(g.first(stalenessField, e), g.takeStaleness(e))
	case "hedge":
		return g.first(hedgeField, e)
	}
	return nil
}

// first notes a field, and refuses a second one of the same name.
func (g *givenPreference) first(field int, e *wire.Element) *refusal {
	if g.seen[field] {
		return &refusal{code: codeIDLDuplicateField, name: "IDLDuplicateField", text: "$readPreference has the field " + string(e.Key) + " more than once"}
	}
	g.seen[field] = true
	return nil
}

// takeTags reads an array of at least one document.
func (g *givenPreference) takeTags(e *wire.Element) *refusal {
	if e.Type != bson.TypeArray {
		return typeMismatch("the tags in $readPreference have the BSON type %v, they must be an array", e.Type)
	}
	it := wire.Elements(e.Array())
	for it.Next() {
		if it.Type != bson.TypeEmbeddedDocument {
			return typeMismatch("a tag set in $readPreference has the BSON type %v, it must be a document", it.Type)
		}
		set, err := tagSet(it.Document())
		if err != nil {
			return err
		}
		g.tags = append(g.tags, set)
	}
	switch {
	case it.Err != nil:
		return badValue("the tags in $readPreference: %v", it.Err)
	case len(g.tags) == 0:
		return badValue("the tags in $readPreference are an empty array; they must have at least one document, or be left out")
	}
	return nil
}

func tagSet(document []byte) (tag.Set, *refusal) {
	set := tag.Set{}
	it := wire.Elements(document)
	for it.Next() {
		if it.Type != bson.TypeString {
			return nil, typeMismatch("the tag %q in $readPreference has the BSON type %v, it must be a string", it.Key, it.Type)
		}
		set = append(set, tag.Tag{Name: string(it.Key), Value: string(it.Text())})
	}
	if it.Err != nil {
		return nil, badValue("a tag set in $readPreference: %v", it.Err)
	}
	return set, nil
}

// takeStaleness reads a whole number.
func (g *givenPreference) takeStaleness(e *wire.Element) *refusal {
	switch e.Type {
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble:
	default:
		return typeMismatch("maxStalenessSeconds in $readPreference has the BSON type %v, it must be an int, a long or a double", e.Type)
	}
	n, ok := e.Int64()
	if !ok {
		return badValue("maxStalenessSeconds in $readPreference is %v, it must be a whole number", e.Float64())
	}
	g.staleness = n
	return nil
}

// checkPrimary returns what is wrong with the fields beside the mode primary.
func (g *givenPreference) checkPrimary() *refusal {
	switch {
	case g.seen[tagsField] && (len(g.tags) != 1 || len(g.tags[0]) != 0):
		return badValue("Only empty tags are allowed with primary read preference")
	case g.seen[stalenessField]:
		return badValue("maxStalenessSeconds is not allowed with primary read preference")
	case g.seen[hedgeField]:
		return &refusal{code: codeInvalidOptions, name: "InvalidOptions", text: "hedge is not allowed with primary read preference"}
	}
	return nil
}

// checkStaleness returns what is wrong with maxStalenessSeconds beside another mode.
func (g *givenPreference) checkStaleness() *refusal {
	switch {
	case !g.seen[stalenessField]:
		return nil
	case g.staleness <= 0:
		return badValue("maxStalenessSeconds in $readPreference is %d, it must be positive", g.staleness)
	case g.staleness < leastStaleness:
		return &refusal{
			code: codeMaxStalenessOutOf, name: "MaxStalenessOutOfRange",
			text: fmt.Sprintf("maxStalenessSeconds in $readPreference is %d, it must be at least %d", g.staleness, leastStaleness),
		}
	}
	return nil
}

func (g *givenPreference) build(mode readpref.Mode) (*readpref.ReadPref, *refusal) {
	if err := g.checkStaleness(); err != nil {
		return nil, err
	}
	var o []readpref.Option
	if g.seen[tagsField] {
		o = append(o, readpref.WithTagSets(g.tags...))
	}
	if g.seen[stalenessField] {
		o = append(o, readpref.WithMaxStaleness(time.Duration(min(g.staleness, mostStaleness))*time.Second))
	}
	p, err := readpref.New(mode, o...)
	if err != nil {
		return nil, badValue("$readPreference: %v", err)
	}
	return p, nil
}
