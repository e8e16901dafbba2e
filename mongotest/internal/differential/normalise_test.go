package differential

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

var began = time.Now()

var writtenTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`)

// sortKey is a text as a collation compares it, which is each server's own.
var sortKey = regexp.MustCompile(`("|CollationKey\(0x)(?:[0-9a-f]{2})+("|\))`)

// cutSortKey is one that is too long for an error.
var cutSortKey = regexp.MustCompile(`CollationKey\(0x[0-9a-f]+\.\.\.`)

var writtenTimestamp = regexp.MustCompile(`Timestamp\((\d+), \d+\)`)

var randomNumber = regexp.MustCompile(`0\.\d{6,}`)

// rewritten are the parts of replies that differ from run to run, with their replacements.
var rewritten = []struct {
	pattern *regexp.Regexp
	as      string
}{
	{regexp.MustCompile(`\{"\$numberInt":"(-?\d+)"\}`), "$1"},
	{regexp.MustCompile(`\{"\$numberDouble":"([^"]+)"\}`), "$1"},
	{regexp.MustCompile(`\{"\$numberLong":"(-?\d+)"\}`), "${1}L"},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UUID"},
	{regexp.MustCompile(`cursor id \d+`), "cursor id"},
	{regexp.MustCompile(`collection scan stopped\. totalRecords: .*? :: caused by :: `), ""},      // how far it had come
	{regexp.MustCompile(`error while multiplanner was selecting best plan :: caused by :: `), ""}, // where the planner was
	{regexp.MustCompile(`("cursors[A-Z][a-z]+": \[)\d+L`), "${1}CURSOR"},
	{regexp.MustCompile(`"uuid": ?\{"\$binary":[^}]*\}\}`), `"uuid": UUID`},
	{regexp.MustCompile(`Tree: .*?(\\n)* (planner returned|tailable cursor)`), " $2"},       // how a filter was understood
	{regexp.MustCompile(` Input document: \{.*?\}","code"`), ` Input document: {}","code"`}, // without the parts that are not needed
}

// Libraries differ in the last digits of these.
var inexact = regexp.MustCompile(`\$(exp|ln|log|log10|pow|a?(sin|cos|tan)h?|atan2|sigmoid|stdDev\w+|covariance\w+|expMovingAvg|` +
	`degreesToRadians|radiansToDegrees)\b`)

var writtenNumber = regexp.MustCompile(`-?\d+(\.\d+)?(E[+-]?\d+)?`)

// nearlySame reports whether replies to a command with inexact functions are the same but for numbers that have the same 14 digits.
func nearlySame(command bson.D, a, b string) bool {
	inA, inB := writtenNumber.FindAllString(a, -1), writtenNumber.FindAllString(b, -1)
	if len(inA) != len(inB) || writtenNumber.ReplaceAllString(a, "") != writtenNumber.ReplaceAllString(b, "") ||
		!inexact.MatchString(fmt.Sprint(command)) {
		return false
	}
	for i := range inA {
		x, _ := strconv.ParseFloat(inA[i], 64)
		y, _ := strconv.ParseFloat(inB[i], 64)
		if math.Abs(x-y) > 1e-14*math.Max(math.Abs(x), math.Abs(y)) {
			return false
		}
	}
	return true
}

var oddCharacter = regexp.MustCompile(`\d+: Unexpected character '(\\ufffd|[^\x00-\x7f])'(; )?`)

// sameButForBytes reports whether replies are the same but for the characters of a date that the real server names byte by byte: here a text
// is never cut inside a character.
func sameButForBytes(a, b string) bool {
	return oddCharacter.ReplaceAllString(a, "") == oddCharacter.ReplaceAllString(b, "") && strings.Contains(b, `\ufffd`)
}

// normalised writes a reply without the parts that may differ between two servers that agree.
func normalised(db string, command bson.D, raw bson.Raw) reply {
	doc := stable(raw)
	for i := range doc {
		if cursor, ok := doc[i].Value.(bson.D); ok && doc[i].Key == "cursor" {
			asFarAsTold(command, cursor)
		}
	}
	if command[0].Key == "dataSize" { // how long it took
		doc = slices.DeleteFunc(doc, func(e bson.E) bool { return e.Key == "millis" })
	}
	if command[0].Key == "collStats" { // what a storage engine says of itself
		doc = slices.DeleteFunc(doc, func(e bson.E) bool { return e.Key == "wiredTiger" || e.Key == "indexDetails" })
	}
	doc = asExplained(command, doc)
	inAnyOrder(command, doc)
	b, err := bson.Marshal(doc)
	if err != nil {
		return reply{text: err.Error()}
	}
	text := bson.Raw(b).String()
	for _, r := range rewritten {
		text = r.pattern.ReplaceAllString(text, r.as)
	}
	if strings.Contains(text, `"hexEncoded"`) {
		text = cutSortKey.ReplaceAllString(sortKey.ReplaceAllString(text, "${1}KEY$2"), "CollationKey(0xKEY)")
	}
	if strings.Contains(fmt.Sprint(command), "$rand") {
		text = randomNumber.ReplaceAllString(text, "RANDOM")
	}
	return reply{doc, strings.ReplaceAll(text, db, "DB")}
}

func stable(doc bson.Raw) bson.D {
	out := bson.D{}
	elements, _ := doc.Elements()
	for _, e := range elements {
		if strings.HasPrefix(e.Key(), "fs") && strings.HasSuffix(e.Key(), "Size") { // the disk's
			continue
		}
		v := stableValue(e.Value())
		if e.Key() == "id" {
			if id, ok := v.(bson.RawValue); ok && id.Type == bson.TypeInt64 && id.Int64() != 0 {
				v = cursorHere
			}
		}
		out = append(out, bson.E{Key: e.Key(), Value: v})
	}
	return out
}

func stableValue(v bson.RawValue) any {
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		return stable(v.Document())
	case bson.TypeArray:
		list := bson.A{}
		values, _ := v.Array().Values()
		for _, each := range values {
			list = append(list, stableValue(each))
		}
		return list
	case bson.TypeDateTime:
		if recent(v.Time()) {
			return "NOW"
		}
	case bson.TypeTimestamp:
		if t, _ := v.Timestamp(); recent(time.Unix(int64(t), 0)) {
			return "NOW"
		}
	case bson.TypeString:
		text := writtenTime.ReplaceAllStringFunc(v.StringValue(), func(text string) string {
			if t, err := time.Parse(time.RFC3339, text); err == nil && recent(t) {
				return "NOW"
			}
			return text
		})
		return writtenTimestamp.ReplaceAllStringFunc(text, func(text string) string {
			seconds, _ := strconv.ParseInt(writtenTimestamp.FindStringSubmatch(text)[1], 10, 64)
			if recent(time.Unix(seconds, 0)) {
				return "NOW"
			}
			return text
		})
	case bson.TypeDouble:
		if f := v.Double(); math.IsNaN(f) && math.Signbit(f) {
			return "-NaN"
		}
	case bson.TypeDecimal128:
		d := v.Decimal128()
		if high, _ := d.GetBytes(); d.IsNaN() && high>>63 == 1 {
			return "-NaN decimal"
		}
	case bson.TypeObjectID:
		if recent(v.ObjectID().Timestamp()) {
			return "OBJECTID"
		}
	}
	return v
}

// asFarAsTold takes out of a cursor what no document tells: the order of collections, and whether an aggregation that filled
// its batch is known to have come to its end, which depends on how it was optimised.
func asFarAsTold(command, cursor bson.D) {
	var list bson.A
	for _, e := range cursor {
		if e.Key == "firstBatch" {
			list = e.Value.(bson.A)
		}
	}
	switch command[0].Key {
	case "listCollections":
		slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for i, e := range cursor {
			if e.Key == "firstBatch" {
				cursor[i].Value = slices.DeleteFunc(list, ofViews)
			}
		}
	case "aggregate":
		for i, e := range cursor {
			if e.Key == "id" && int64(len(list)) == batchSize(command) {
				cursor[i].Value = "OPEN OR NOT"
			}
		}
	}
}

var (
	noOrderOfDocuments = regexp.MustCompile(`"\$(group|sortByCount|sample)"`)
	noOrderOfElements  = regexp.MustCompile(`"\$group":.*"\$(addToSet|setUnion)"`)
	someOrder          = regexp.MustCompile(`"\$sort"`)
)

// inAnyOrder sorts what the server gives in no order: the groups of a pipeline without a sort, the sets that they gather, and
// the distinct values of a view, which are such a set.
func inAnyOrder(command, reply bson.D) {
	if command[0].Key == "distinct" && onView(reply) {
		sortLists(reply)
	}
	if command[0].Key != "aggregate" {
		return
	}
	b, err := bson.MarshalExtJSON(command, false, false)
	if err != nil {
		return
	}
	text := string(b)
	if noOrderOfElements.MatchString(text) {
		sortLists(reply)
	}
	if noOrderOfDocuments.MatchString(text) && !someOrder.MatchString(text) {
		for _, e := range reply {
			if cursor, ok := e.Value.(bson.D); ok && e.Key == "cursor" {
				for _, f := range cursor {
					if batch, ok := f.Value.(bson.A); ok {
						sortByText(batch)
					}
				}
			}
		}
	}
}

// onView reports whether a reply is that of a distinct on a view, which says ok with an integer.
func onView(reply bson.D) bool {
	ok, isRaw := reply[len(reply)-1].Value.(bson.RawValue)
	return isRaw && ok.Type == bson.TypeInt32
}

// sortLists sorts the arrays inside the documents of an array, at any depth.
func sortLists(v any) {
	switch v := v.(type) {
	case bson.D:
		for _, e := range v {
			if list, ok := e.Value.(bson.A); ok && e.Key != "firstBatch" {
				sortByText(list)
			}
			sortLists(e.Value)
		}
	case bson.A:
		for _, each := range v {
			sortLists(each)
		}
	}
}

func sortByText(list bson.A) {
	slices.SortStableFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}

// ofViews reports whether what listCollections tells is where a database that had a view once keeps its views.
func ofViews(info any) bool {
	d, ok := info.(bson.D)
	return ok && len(d) > 0 && strings.Contains(fmt.Sprint(d[0].Value), "system.views")
}

// batchSize returns what an aggregate says of it, -1 for nothing.
func batchSize(command bson.D) int64 {
	for _, e := range command {
		if options, ok := e.Value.(bson.D); ok && e.Key == "cursor" && len(options) == 1 {
			if n, ok := options[0].Value.(int32); ok {
				return int64(n)
			}
		}
	}
	return -1
}

// recent reports whether a time lies within the run.
func recent(t time.Time) bool {
	return t.After(began.Add(-time.Minute)) && t.Before(time.Now().Add(time.Minute))
}
