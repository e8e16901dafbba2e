package expr_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// templates are the operators by the kind of their result. @ and a letter stands for an argument of a kind: N number,
// I small integer, S string, A array, O object, D date, B anything true or false, X anything, T the text of a number,
// Z time zone, U unit of time.
var templates = map[byte][]string{
	'N': {
		`{"$add": [@N, @N]}`, `{"$add": [@N, @N, @N]}`, `{"$subtract": [@N, @N]}`, `{"$multiply": [@N, @N]}`, `{"$divide": [@N, @N]}`,
		`{"$mod": [@N, @N]}`, `{"$abs": @N}`, `{"$ceil": @N}`, `{"$floor": @N}`, `{"$round": [@N, @I]}`, `{"$trunc": [@N, @I]}`,
		`{"$sqrt": {"$abs": @N}}`, `{"$pow": [@I, @I]}`, `{"$exp": @I}`, `{"$ln": @N}`, `{"$log": [@N, @I]}`, `{"$log10": @N}`,
		`{"$sin": @N}`, `{"$cos": @N}`, `{"$tan": @N}`, `{"$atan": @N}`, `{"$atan2": [@N, @N]}`, `{"$sinh": @I}`, `{"$tanh": @N}`, `{"$asinh": @N}`,
		`{"$degreesToRadians": @N}`, `{"$radiansToDegrees": @N}`, `{"$sigmoid": @I}`,
		`{"$sum": @A}`, `{"$sum": [@N, @N, @S]}`, `{"$avg": @A}`, `{"$avg": [@N, @N]}`, `{"$stdDevPop": [@N, @N, @N]}`, `{"$stdDevSamp": @A}`,
		`{"$min": [@N, @N]}`, `{"$max": [@N, @N]}`, `{"$size": @A}`, `{"$strLenCP": @S}`, `{"$strLenBytes": @S}`, `{"$cmp": [@X, @X]}`,
		`{"$indexOfArray": [@A, @X]}`, `{"$indexOfArray": [@A, @X, @I]}`, `{"$indexOfBytes": [@S, @S]}`, `{"$indexOfCP": [@S, @S, @I, @I]}`,
		`{"$strcasecmp": [@S, @S]}`, `{"$bitAnd": [@I, @N]}`, `{"$bitOr": [@I, @I]}`, `{"$bitXor": [@I, @I]}`, `{"$bitNot": @I}`,
		`{"$toInt": @T}`, `{"$toLong": @T}`, `{"$toDouble": @T}`, `{"$toDecimal": @T}`, `{"$toInt": @N}`, `{"$toLong": @N}`, `{"$toDecimal": @N}`, `{"$toDouble": @N}`,
		`{"$year": @D}`, `{"$month": @D}`, `{"$dayOfMonth": @D}`, `{"$dayOfYear": @D}`, `{"$dayOfWeek": @D}`, `{"$week": {"date": @D, "timezone": @Z}}`,
		`{"$isoWeek": @D}`, `{"$isoWeekYear": @D}`, `{"$isoDayOfWeek": @D}`, `{"$hour": {"date": @D, "timezone": @Z}}`, `{"$minute": @D}`,
		`{"$second": @D}`, `{"$millisecond": @D}`, `{"$dateDiff": {"startDate": @D, "endDate": @D, "unit": @U, "timezone": @Z}}`,
		`{"$dateDiff": {"startDate": @D, "endDate": @D, "unit": @U, "startOfWeek": @W}}`, `{"$binarySize": @S}`, `{"$bsonSize": @O}`,
		`{"$reduce": {"input": @A, "initialValue": @N, "in": {"$add": ["$$value", {"$cond": [{"$isNumber": "$$this"}, "$$this", 1]}]}}}`,
		`{"$toInt": @B}`, `{"$subtract": [@D, @D]}`, `{"$tsSecond": "$ts"}`, `{"$median": {"input": @A, "method": "approximate"}}`,
	},
	'I': {`{"$size": @A}`, `{"$strLenCP": @S}`, `{"$add": [@I, 1]}`, `{"$abs": @I}`},
	'S': {
		`{"$concat": [@S, @S]}`, `{"$toLower": @S}`, `{"$toUpper": @S}`, `{"$substrCP": [@S, @I, @I]}`, `{"$substrBytes": [@S, @I, @I]}`,
		`{"$trim": {"input": @S}}`, `{"$ltrim": {"input": @S, "chars": @S}}`, `{"$rtrim": {"input": @S, "chars": @S}}`,
		`{"$replaceOne": {"input": @S, "find": @S, "replacement": @S}}`, `{"$replaceAll": {"input": @S, "find": @S, "replacement": @S}}`,
		`{"$toString": @X}`, `{"$toString": @N}`, `{"$toLower": @N}`, `{"$type": @X}`, `{"$dateToString": {"date": @D}}`, `{"$toString": @D}`,
		`{"$dateToString": {"date": @D, "format": "%Y-%m-%d %H:%M:%S.%L %j %U %w %G-%V-%u %z %Z %b", "timezone": @Z}}`,
		`{"$arrayElemAt": [{"$split": [@S, @S]}, @I]}`, `{"$substr": [@N, 0, @I]}`,
		`{"$reduce": {"input": {"$split": [@S, "a"]}, "initialValue": "", "in": {"$concat": ["$$this", "$$value"]}}}`,
	},
	'A': {
		`[@X, @X]`, `{"$concatArrays": [@A, @A]}`, `{"$slice": [@A, @I]}`, `{"$slice": [@A, @N, @I]}`, `{"$reverseArray": @A}`, `{"$range": [@I, @I]}`,
		`{"$range": [@I, @I, @I]}`, `{"$setUnion": [@A, @A]}`, `{"$setIntersection": [@A, @A]}`, `{"$setDifference": [@A, @A]}`,
		`{"$map": {"input": @A, "in": {"$type": "$$this"}}}`, `{"$map": {"input": @A, "as": "e", "in": ["$$e", "$$IDX"]}}`,
		`{"$filter": {"input": @A, "cond": {"$gt": ["$$this", @X]}}}`, `{"$filter": {"input": @A, "as": "e", "cond": "$$e", "limit": @I}}`,
		`{"$sortArray": {"input": @A, "sortBy": 1}}`, `{"$sortArray": {"input": @A, "sortBy": {"x": -1}}}`, `{"$zip": {"inputs": [@A, @A]}}`,
		`{"$zip": {"inputs": [@A, @A], "useLongestLength": true, "defaults": [@X, @X]}}`, `{"$split": [@S, @S]}`, `{"$objectToArray": @O}`,
		`{"$firstN": {"n": @I, "input": @A}}`, `{"$lastN": {"n": @I, "input": @A}}`, `{"$minN": {"n": @I, "input": @A}}`,
		`{"$maxN": {"n": @I, "input": @A}}`, `{"$regexFindAll": {"input": @S, "regex": "[ab]+"}}`, `{"$regexFindAll": {"input": @S, "regex": "(a)|b"}}`,
		`{"$percentile": {"input": @A, "p": [0, 0.3, 0.5, 1], "method": "approximate"}}`,
	},
	'O': {
		`{"x": @X, "y": @X}`, `{"$mergeObjects": [@O, @O]}`, `{"$mergeObjects": @A}`, `{"$setField": {"field": "x", "input": @O, "value": @X}}`,
		`{"$unsetField": {"field": "x", "input": @O}}`, `{"$arrayToObject": [[["a", @X], ["b", @X]]]}`, `{"$arrayToObject": {"$objectToArray": @O}}`,
		`{"$dateToParts": {"date": @D, "timezone": @Z}}`, `{"$dateToParts": {"date": @D, "iso8601": true}}`, `{"$regexFind": {"input": @S, "regex": "(a)(b)?"}}`,
		`{"$cond": [@B, @O, @O]}`,
	},
	'D': {
		`{"$toDate": {"$toLong": @I}}`, `{"$add": [@D, @I]}`, `{"$subtract": [@D, @N]}`, `{"$dateAdd": {"startDate": @D, "unit": @U, "amount": @I, "timezone": @Z}}`,
		`{"$dateSubtract": {"startDate": @D, "unit": @U, "amount": @I}}`, `{"$dateTrunc": {"date": @D, "unit": @U}}`,
		`{"$dateTrunc": {"date": @D, "unit": @U, "binSize": {"$add": [1, {"$abs": @I}]}, "timezone": @Z, "startOfWeek": @W}}`,
		`{"$dateFromParts": {"year": {"$add": [2000, @I]}, "month": @I, "day": @I, "hour": @I, "timezone": @Z}}`,
		`{"$dateFromParts": {"isoWeekYear": 2020, "isoWeek": @I, "isoDayOfWeek": @I}}`, `{"$dateFromString": {"dateString": {"$dateToString": {"date": @D}}}}`,
		`{"$dateFromString": {"dateString": {"$dateToString": {"date": @D, "format": "%Y/%m/%d %H"}}, "format": "%Y/%m/%d %H", "timezone": @Z}}`,
		`{"$dateFromParts": {"year": 2021, "month": 3, "day": 14, "hour": @I, "minute": @I, "timezone": @Z}}`,
	},
	'B': {
		`{"$and": [@B, @B]}`, `{"$or": [@B, @B]}`, `{"$not": [@B]}`, `{"$eq": [@X, @X]}`, `{"$ne": [@X, @X]}`, `{"$gt": [@X, @X]}`, `{"$gte": [@N, @N]}`,
		`{"$lt": [@S, @S]}`, `{"$lte": [@X, @X]}`, `{"$in": [@X, @A]}`, `{"$isArray": [@X]}`, `{"$isNumber": @X}`, `{"$setEquals": [@A, @A]}`,
		`{"$setIsSubset": [@A, @A]}`, `{"$allElementsTrue": [@A]}`, `{"$anyElementTrue": [@A]}`, `{"$toBool": @X}`,
		`{"$regexMatch": {"input": @S, "regex": "^A", "options": "i"}}`,
	},
	'X': {
		`{"$cond": [@B, @X, @X]}`, `{"$cond": {"if": @B, "then": @X, "else": @X}}`, `{"$ifNull": [@X, @X]}`, `{"$ifNull": [@X, @X, @X]}`,
		`{"$switch": {"branches": [{"case": @B, "then": @X}, {"case": @B, "then": @X}], "default": @X}}`, `{"$first": @A}`, `{"$last": @A}`,
		`{"$arrayElemAt": [@A, @I]}`, `{"$getField": {"field": "x", "input": @O}}`, `{"$let": {"vars": {"v": @X, "w": @N}, "in": ["$$v", "$$w", "$$v.x"]}}`,
		`{"$let": {"vars": {"CURRENT": @O}, "in": "$x"}}`, `{"$literal": {"a": "$b"}}`, `{"$min": @A}`, `{"$max": @A}`,
		`{"$convert": {"input": @X, "to": @C, "onError": "bad", "onNull": "none"}}`, `{"$convert": {"input": @X, "to": @C}}`,
	},
	'T': {},
	'Z': {`{"$concat": ["+0", "5:30"]}`},
	'U': {}, 'W': {}, 'C': {},
}

// leaves are constants by their kind; fields of the document of that kind begin with its letter.
var leaves = map[byte][]string{
	'N': {
		`0`, `1`, `-1`, `2.5`, `-3.25`, `0.1`, `7`, `100`, `2147483647`, `{"$numberLong": "3"}`, `{"$numberLong": "9223372036854775807"}`, `1e20`, `1e-5`,
		`{"$numberDecimal": "1.5"}`, `{"$numberDecimal": "-0.10"}`, `{"$numberDecimal": "12345678901234567890.123"}`, `{"$numberDouble": "NaN"}`,
		`{"$numberDouble": "Infinity"}`, `-2147483648`, `{"$numberDouble": "-0.0"}`, `123456.789`,
	},
	'I': {`0`, `1`, `2`, `3`, `5`, `-1`, `-2`, `12`, `{"$numberLong": "2"}`, `2.0`},
	'S': {`""`, `"a"`, `"b"`, `"abc"`, `"ABBA"`, `"a b a"`, `"héllo"`, `" x "`, `"日本"`, `","`},
	'A': {`[]`, `[1, 2, 3]`, `["a", "b"]`, `[1, null, "a", 2.5]`, `[[1, 2], [3]]`, `[{"x": 1}, {"x": 2, "y": 1}]`, `[3, 1, 2, 1, {"$numberLong": "5"}]`, `[true, false]`},
	'O': {`{}`, `{"x": 1}`, `{"x": {"y": 2}, "z": "a"}`, `{"y": [1, 2]}`},
	'D': {
		`{"$date": "2024-02-29T13:14:15.678Z"}`, `{"$date": "1969-12-31T23:59:59.999Z"}`, `{"$date": "2021-01-03T00:00:00Z"}`,
		`{"$date": "2021-03-14T09:30:00Z"}`, `{"$date": "2020-12-31T12:00:00Z"}`, `{"$date": "2021-11-07T05:30:00Z"}`, `{"$date": "1900-03-01T00:00:00Z"}`,
	},
	'B': {`true`, `false`, `0`, `1`, `null`, `"$gone"`},
	'X': {`null`, `"$gone"`, `{"$minKey": 1}`, `{"$maxKey": 1}`, `{"$oid": "507f1f77bcf86cd799439011"}`, `{"$timestamp": {"t": 5, "i": 6}}`, `{"$binary": {"base64": "AQID", "subType": "00"}}`, `{"$literal": {"$regularExpression": {"pattern": "a", "options": "i"}}}`},
	'T': {`"1"`, `"-12"`, `"0"`, `"2147483647"`, `"1.5"`, `"1e3"`, `"x"`, `"7"`, `"9007199254740993"`},
	'Z': {`"UTC"`, `"America/New_York"`, `"Europe/Berlin"`, `"Asia/Kolkata"`, `"+03:00"`, `"-0930"`, `"Australia/Sydney"`},
	'U': {`"year"`, `"quarter"`, `"month"`, `"week"`, `"day"`, `"hour"`, `"minute"`, `"second"`, `"millisecond"`},
	'W': {`"sunday"`, `"mon"`, `"Friday"`},
	'C': {`"int"`, `"long"`, `"double"`, `"decimal"`, `"string"`, `"bool"`, `"date"`, `"objectId"`},
}

const plainKinds = "NISAODB"

type maker struct{ *rand.Rand }

func (m maker) one(list []string) string { return list[m.IntN(len(list))] }

// expression returns a random expression of a kind; now and then it is of another.
func (m maker) expression(kind byte, depth int) string {
	if strings.IndexByte(plainKinds, kind) >= 0 && m.IntN(40) == 0 {
		kind = 'X'
	}
	if kind == 'X' && m.IntN(3) > 0 {
		kind = plainKinds[m.IntN(len(plainKinds))]
	}
	if depth > 0 && len(templates[kind]) > 0 && m.IntN(8) > 0 {
		return m.fill(m.one(templates[kind]), depth-1)
	}
	if strings.IndexByte(plainKinds, kind) >= 0 && m.IntN(2) == 0 {
		return fmt.Sprintf(`"$%c%d"`, kind, m.IntN(3))
	}
	return m.one(leaves[kind])
}

func (m maker) fill(template string, depth int) string {
	var b strings.Builder
	for i := 0; i < len(template); i++ {
		if template[i] != '@' {
			b.WriteByte(template[i])
			continue
		}
		i++
		b.WriteString(m.expression(template[i], depth))
	}
	return b.String()
}

// document returns a document with three fields of each kind.
func (m maker) document(id int) string {
	parts := []string{fmt.Sprintf(`"_id": %d`, id), `"ts": {"$timestamp": {"t": 1700000000, "i": 3}}`}
	for _, kind := range []byte(plainKinds) {
		for i := range 3 {
			leaf := m.one(leaves[kind])
			if leaf != `"$gone"` {
				parts = append(parts, fmt.Sprintf(`"%c%d": %s`, kind, i, leaf))
			}
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func TestRandomExpressionsGiveWhatTheEngineGives(t *testing.T) {
	e := newEngine(t)
	const rounds = 3000
	m := maker{rand.New(rand.NewPCG(3, 4))}
	docs := make([]bson.Raw, 100) // more cases than documents, to spare insertions
	for i := range docs {
		docs[i] = document(t, m.document(i))
	}
	e.insert(docs...)
	fine, different := 0, 0
	for range rounds {
		id, s := m.IntN(len(docs)), m.expression('X', 3)
		v, doc := value(t, s), docs[id]
		want := e.evaluate(id, v)
		got := evaluate(doc, v)
		if !strings.HasPrefix(want, "error") {
			fine++
		}
		if got != want && !known(doc, v, s, got, want) {
			if different++; different < 40 {
				t.Errorf("document %s\nexpression %s\ngot  %s\nwant %s", doc, s, got, want)
			}
		}
	}
	if fine < rounds/2 {
		t.Errorf("only %d of %d random expressions have a value", fine, rounds)
	}
	t.Logf("%d of %d have a value", fine, rounds)
}
