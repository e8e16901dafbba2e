package router

import (
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// carrying returns a find as the router reads it, with a $readPreference if it is not nil.
func carrying(t *testing.T, preference any) *command {
	t.Helper()
	fields := bson.D{{Key: "find", Value: "c"}, {Key: "$db", Value: "app"}}
	if preference != nil {
		fields = append(fields, bson.E{Key: "$readPreference", Value: preference})
	}
	document, err := bson.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	at, b := wire.BeginMsg(nil, 1, 0, 0)
	c, err := new(parser).parse(wire.EndMessage(append(b, document...), at))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// pairs returns a document.
func pairs(p ...any) bson.D {
	d := bson.D{}
	for i := 0; i < len(p); i += 2 {
		d = append(d, bson.E{Key: p[i].(string), Value: p[i+1]})
	}
	return d
}

func TestAReadPreferenceThatTheRouterTakes(t *testing.T) {
	decimal, _ := bson.ParseDecimal128("1")
	nyc, sf := pairs("dc", "nyc"), pairs("dc", "sf")
	for name, c := range map[string]struct {
		given any
		want  string
	}{
		"each mode: primary":                     {pairs("mode", "primary"), "primary"},
		"each mode: primaryPreferred":            {pairs("mode", "primaryPreferred"), "primaryPreferred"},
		"each mode: secondary":                   {pairs("mode", "secondary"), "secondary"},
		"each mode: secondaryPreferred":          {pairs("mode", "secondaryPreferred"), "secondaryPreferred"},
		"each mode: nearest":                     {pairs("mode", "nearest"), "nearest"},
		"primary with one empty tag set":         {pairs("mode", "primary", "tags", bson.A{pairs()}), "primary"},
		"one tag set":                            {pairs("mode", "secondary", "tags", bson.A{nyc}), "secondary(tagSet=dc=nyc)"},
		"tag sets keep their order":              {pairs("mode", "nearest", "tags", bson.A{sf, nyc, pairs()}), "nearest(tagSet=dc=sf tagSet=dc=nyc tagSet=)"},
		"tags before the mode":                   {pairs("tags", bson.A{nyc}, "mode", "secondary"), "secondary(tagSet=dc=nyc)"},
		"the least staleness":                    {pairs("mode", "secondary", "maxStalenessSeconds", 90), "secondary(maxStaleness=1m30s)"},
		"a staleness that is a long":             {pairs("mode", "secondary", "maxStalenessSeconds", int64(120)), "secondary(maxStaleness=2m0s)"},
		"a staleness that is a whole double":     {pairs("mode", "secondary", "maxStalenessSeconds", 120.0), "secondary(maxStaleness=2m0s)"},
		"a staleness of centuries":               {pairs("mode", "secondary", "maxStalenessSeconds", int64(math.MaxInt64)), "secondary(maxStaleness=596523h14m7s)"},
		"all fields":                             {pairs("mode", "nearest", "tags", bson.A{nyc}, "maxStalenessSeconds", 90), "nearest(maxStaleness=1m30s tagSet=dc=nyc)"},
		"an unknown field is ignored":            {pairs("mode", "nearest", "colour", decimal), "nearest"},
		"an unknown field beside primary":        {pairs("colour", 1, "mode", "primary"), "primary"},
		"an unknown field twice":                 {pairs("colour", 1, "mode", "nearest", "colour", 2), "nearest"},
		"a hedged read, which servers ignore":    {pairs("mode", "nearest", "hedge", pairs("enabled", true)), "nearest"},
		"a field whose case is another, unknown": {pairs("mode", "nearest", "Tags", 1), "nearest"},
	} {
		rp, refused := preferenceOf(carrying(t, c.given))
		switch {
		case refused != nil:
			t.Errorf("%s: %v", name, refused)
		case rp == nil && c.want != "primary":
			t.Errorf("%s: primary, want %s", name, c.want)
		case rp != nil && rp.String() != c.want:
			t.Errorf("%s: %v, want %s", name, rp, c.want)
		}
	}
}

// refusedPreferences are the read preferences that the router refuses, with the code and the text.
var refusedPreferences = map[string]struct {
	given any
	code  int32
	text  string
}{
	"it is a string":       {"secondary", codeTypeMismatch, "$readPreference has the BSON type string, it must be a document"},
	"it is an array":       {bson.A{pairs("mode", "secondary")}, codeTypeMismatch, "$readPreference has the BSON type array, it must be a document"},
	"it is null":           {bson.Null{}, codeTypeMismatch, "$readPreference has the BSON type null, it must be a document"},
	"it is a number":       {1, codeTypeMismatch, "$readPreference has the BSON type 32-bit integer, it must be a document"},
	"it is empty":          {pairs(), codeIDLFailedToParse, "$readPreference has no mode"},
	"without a mode":       {pairs("tags", bson.A{pairs()}), codeIDLFailedToParse, "$readPreference has no mode"},
	"a mode twice":         {pairs("mode", "nearest", "mode", "nearest"), codeIDLDuplicateField, "$readPreference has the field mode more than once"},
	"a mode is a number":   {pairs("mode", 1), codeTypeMismatch, "the mode in $readPreference has the BSON type 32-bit integer, it must be a string"},
	"a mode is null":       {pairs("mode", bson.Null{}), codeTypeMismatch, "the mode in $readPreference has the BSON type null, it must be a string"},
	"an empty mode":        {pairs("mode", ""), codeBadValue, `$readPreference has the mode "", which is unknown`},
	"an unknown mode":      {pairs("mode", "fastest"), codeBadValue, `$readPreference has the mode "fastest", which is unknown`},
	"not in camel case":    {pairs("mode", "SecondaryPreferred"), codeBadValue, `$readPreference has the mode "SecondaryPreferred", which is unknown`},
	"in capitals":          {pairs("mode", "SECONDARY"), codeBadValue, `$readPreference has the mode "SECONDARY", which is unknown`},
	"tags in a document":   {pairs("mode", "nearest", "tags", pairs("dc", "nyc")), codeTypeMismatch, "the tags in $readPreference have the BSON type embedded document, they must be an array"},
	"tags are null":        {pairs("mode", "nearest", "tags", bson.Null{}), codeTypeMismatch, "the tags in $readPreference have the BSON type null, they must be an array"},
	"no tag set":           {pairs("mode", "nearest", "tags", bson.A{}), codeBadValue, "the tags in $readPreference are an empty array; they must have at least one document, or be left out"},
	"a tag set is text":    {pairs("mode", "nearest", "tags", bson.A{pairs(), "x"}), codeTypeMismatch, "a tag set in $readPreference has the BSON type string, it must be a document"},
	"a tag is a number":    {pairs("mode", "nearest", "tags", bson.A{pairs("dc", 1)}), codeTypeMismatch, `the tag "dc" in $readPreference has the BSON type 32-bit integer, it must be a string`},
	"tags twice":           {pairs("mode", "nearest", "tags", bson.A{pairs()}, "tags", bson.A{pairs()}), codeIDLDuplicateField, "$readPreference has the field tags more than once"},
	"no staleness":         {pairs("mode", "nearest", "maxStalenessSeconds", 0), codeBadValue, "maxStalenessSeconds in $readPreference is 0, it must be positive"},
	"negative staleness":   {pairs("mode", "nearest", "maxStalenessSeconds", -1), codeBadValue, "maxStalenessSeconds in $readPreference is -1, it must be positive"},
	"one second":           {pairs("mode", "nearest", "maxStalenessSeconds", 1), codeMaxStalenessOutOf, "maxStalenessSeconds in $readPreference is 1, it must be at least 90"},
	"89 seconds":           {pairs("mode", "nearest", "maxStalenessSeconds", 89), codeMaxStalenessOutOf, "maxStalenessSeconds in $readPreference is 89, it must be at least 90"},
	"a fraction":           {pairs("mode", "nearest", "maxStalenessSeconds", 90.5), codeBadValue, "maxStalenessSeconds in $readPreference is 90.5, it must be a whole number"},
	"no number":            {pairs("mode", "nearest", "maxStalenessSeconds", math.NaN()), codeBadValue, "maxStalenessSeconds in $readPreference is NaN, it must be a whole number"},
	"staleness is text":    {pairs("mode", "nearest", "maxStalenessSeconds", "90"), codeTypeMismatch, "maxStalenessSeconds in $readPreference has the BSON type string, it must be an int, a long or a double"},
	"staleness is true":    {pairs("mode", "nearest", "maxStalenessSeconds", true), codeTypeMismatch, "maxStalenessSeconds in $readPreference has the BSON type boolean, it must be an int, a long or a double"},
	"staleness is a date":  {pairs("mode", "nearest", "maxStalenessSeconds", bson.DateTime(90)), codeTypeMismatch, "maxStalenessSeconds in $readPreference has the BSON type UTC datetime, it must be an int, a long or a double"},
	"staleness twice":      {pairs("mode", "nearest", "maxStalenessSeconds", 90, "maxStalenessSeconds", 90), codeIDLDuplicateField, "$readPreference has the field maxStalenessSeconds more than once"},
	"primary, tags":        {pairs("mode", "primary", "tags", bson.A{pairs("dc", "nyc")}), codeBadValue, "Only empty tags are allowed with primary read preference"},
	"primary, two tags":    {pairs("mode", "primary", "tags", bson.A{pairs(), pairs()}), codeBadValue, "Only empty tags are allowed with primary read preference"},
	"primary, []":          {pairs("mode", "primary", "tags", bson.A{}), codeBadValue, "the tags in $readPreference are an empty array; they must have at least one document, or be left out"},
	"tags before primary":  {pairs("tags", bson.A{pairs("dc", "nyc")}, "mode", "primary"), codeBadValue, "Only empty tags are allowed with primary read preference"},
	"primary, staleness":   {pairs("mode", "primary", "maxStalenessSeconds", 120), codeBadValue, "maxStalenessSeconds is not allowed with primary read preference"},
	"primary, 1 second":    {pairs("maxStalenessSeconds", 1, "mode", "primary"), codeBadValue, "maxStalenessSeconds is not allowed with primary read preference"},
	"primary, 0 seconds":   {pairs("mode", "primary", "maxStalenessSeconds", 0), codeBadValue, "maxStalenessSeconds is not allowed with primary read preference"},
	"primary, hedged read": {pairs("mode", "primary", "hedge", pairs("enabled", true)), codeInvalidOptions, "hedge is not allowed with primary read preference"},
}

func TestAReadPreferenceThatTheRouterRefuses(t *testing.T) {
	for name, c := range refusedPreferences {
		rp, refused := preferenceOf(carrying(t, c.given))
		if refused == nil {
			t.Errorf("%s: it is taken as %v", name, rp)
			continue
		}
		if refused.code != c.code || refused.text != c.text {
			t.Errorf("%s: %d %q", name, refused.code, refused.text)
		}
	}
}

func TestABrokenDocumentInAReadPreferenceIsRefused(t *testing.T) {
	good, err := bson.Marshal(pairs("mode", "nearest", "tags", bson.A{pairs("dc", "nyc")}))
	if err != nil {
		t.Fatal(err)
	}
	for i := 4; i < len(good)-1; i++ { // the length stays what it says
		broken := append([]byte(nil), good...)
		broken[i] ^= 0xff
		rp, refused := parsePreference(broken) // it must not panic
		if refused == nil && (rp == nil || rp.Mode() != modes["nearest"]) {
			t.Errorf("byte %d: taken as %v", i, rp)
		}
	}
	for name, document := range map[string][]byte{"cut off": good[:len(good)-3], "of no length": {5, 0, 0}} {
		if rp, refused := parsePreference(document); refused == nil || refused.code != codeBadValue && refused.code != codeIDLFailedToParse {
			t.Errorf("%s: %v, %v", name, rp, refused)
		}
	}
}

// "slaveOk without a preference means secondaryPreferred, neither means primary, and with both the preference is obeyed": an OP_MSG never
// has the bit.
func TestSlaveOkAndAReadPreference(t *testing.T) {
	for name, c := range map[string]struct {
		slaveOk bool
		given   any
		want    string
	}{
		"neither":                    {false, nil, "primary"},
		"slaveOk":                    {true, nil, "secondaryPreferred"},
		"a preference":               {false, pairs("mode", "nearest"), "nearest"},
		"both":                       {true, pairs("mode", "nearest"), "nearest"},
		"slaveOk and primary":        {true, pairs("mode", "primary"), "primary"},
		"primary without slaveOk":    {false, pairs("mode", "primary"), "primary"},
		"both, with tags":            {true, pairs("mode", "secondary", "tags", bson.A{pairs("dc", "nyc")}), "secondary(tagSet=dc=nyc)"},
		"slaveOk and a refused one":  {true, pairs("mode", "x"), "refused"},
		"a refused one, no slaveOk":  {false, pairs("mode", "x"), "refused"},
		"slaveOk and not a document": {true, 1, "refused"},
	} {
		q := carrying(t, c.given)
		if q.slaveOk {
			t.Errorf("%s: an OP_MSG has the slaveOk bit", name)
		}
		q.slaveOk = c.slaveOk
		rp, refused := preferenceOf(q)
		got := "primary"
		switch {
		case refused != nil:
			got = "refused"
		case rp != nil:
			got = rp.String()
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
