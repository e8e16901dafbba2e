package expr_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// caseDifferences are the cases in which this package does not give what the engine gives, each with the reason.
var caseDifferences = []struct {
	reason      string
	expressions []string
}{
	{"the engine's library of decimals is off by one in the last digit; here the result is rounded once", []string{
		`{"$exp":{"$numberDecimal":"100"}}`, `{"$log10":{"$numberDecimal":"4"}}`, `{"$sin":{"$numberDecimal":"1"}}`,
		`{"$atanh":{"$numberDecimal":"0.5"}}`, `{"$cos":"$d"}`, `{"$atan2":[-1,{"$numberDecimal":"-2"}]}`,
		`{"$atan2":[{"$numberDecimal":"-1"},{"$numberDecimal":"-2"}]}`, `{"$atan2":[1,{"$numberDecimal":"-2"}]}`,
	}},
	{"the engine's library of doubles is off by one in the last place; here the result is rounded once", []string{
		`{"$acosh":2}`, `{"$atanh":0.5}`, `{"$sinh":2}`, `{"$cosh":"$l"}`,
	}},
	{"the engine says in other words why a text is no date", []string{
		`{"$dateFromString":{"dateString":"2024-13-01"}}`, `{"$dateFromString":{"dateString":"hello world"}}`,
		`{"$dateFromString":{"dateString":"2024-01-02T25:00:00Z"}}`, `{"$dateFromString":{"dateString":"2024-060"}}`,
		`{"$dateFromString":{"dateString":"2024-01-02T03:04:05 America/New_York"}}`, `{"$dateFromString":{"dateString":"1.5"}}`,
		`{"$dateFromString":{"dateString":"-3"}}`, `{"$dateFromString":{"dateString":"2024-01-02T03:04:05Z x"}}`,
	}},
	{"a date relative to another is not understood here", []string{`{"$dateFromString":{"dateString":"2024-01-02 +1 day"}}`}},
	{"the order of values that compare equal is that of a heap in the engine", []string{
		`{"$minN":{"n":12,"input":[3,1,2,1,{"$numberLong":"1"}]}}`,
	}},
	{"the engine ignores defaults that are no array", []string{
		`{"$zip":{"inputs":["$a"],"defaults":1}}`, `{"$zip":{"inputs":["$a"],"defaults":1,"useLongestLength":true}}`,
		`{"$zip":{"inputs":["$a"],"defaults":"$a","useLongestLength":true}}`,
	}},
	{"a sort key with a dollar is refused here", []string{`{"$sortArray":{"input":"$oa","sortBy":{"$x":1}}}`}},
}

func caseDifference(expression string) string {
	for _, d := range caseDifferences {
		for _, e := range d.expressions {
			if e == expression {
				return d.reason
			}
		}
	}
	return ""
}

// randomDifferences are the kinds of differences that random expressions may show, where got and want match both patterns.
var randomDifferences = []struct{ reason, expression, got, want string }{
	{"why a text is no date is said in other words", `.`, `^error 241 `, `^error 241 (Error parsing date|an incomplete date)`},
	{"an expression over text that is no UTF-8, made by replacing between bytes", `"find"`, `.`, `^error 51156 |\\ufffd`},
	{"the sign of NaN, which text shows", `\$(substr|toLower|toUpper)`, `.`, `-n|^"-`},
	{"the engine has a narrower range of dates where it counts units", `\$dateTrunc|\$dateAdd`, `.`, `^error 5166406 `},
	{"a field that was removed comes back at its old place", `\$setField.*\$unsetField`, `^[{[]`, `^[{[]`},
}

// known tells whether a difference of a random expression is one of those that are known.
func known(doc bson.Raw, expression query.Value, text, got, want string) bool {
	for _, d := range randomDifferences {
		if regexp.MustCompile(d.expression).MatchString(text) && regexp.MustCompile(d.got).MatchString(got) &&
			regexp.MustCompile(d.want).MatchString(want) {
			return true
		}
	}
	return nearlyEqual(text, got, want) || anotherError(doc, expression, got, want)
}

// transcendental are the operators whose last digit may differ.
var transcendental = regexp.MustCompile(`\$(a?(sin|cos|tan)h?|atan2|exp|ln|log|log10|pow|sigmoid)"`)

var numbers = regexp.MustCompile(`-?\d[\d.]*(E[-+]?\d+|e[-+]?\d+)?`)

// nearlyEqual tells whether two results differ only in the last digits of numbers, in an expression where that may be.
func nearlyEqual(text, got, want string) bool {
	g, w := numbers.FindAllString(got, -1), numbers.FindAllString(want, -1)
	if !transcendental.MatchString(text) || len(g) != len(w) || numbers.ReplaceAllString(got, "") != numbers.ReplaceAllString(want, "") {
		return false
	}
	for i := range g {
		a, _ := strconv.ParseFloat(g[i], 64)
		b, _ := strconv.ParseFloat(w[i], 64)
		if math.Abs(a-b) > 1e-12*math.Abs(b) {
			return false
		}
	}
	return true
}

// anotherError tells whether the expression has more than one part that fails, and the engine reports another of them:
// which one it evaluates first is not always told.
func anotherError(doc bson.Raw, expression query.Value, got, want string) bool {
	if !strings.HasPrefix(got, "error") || !strings.HasPrefix(want, "error") {
		return false
	}
	for _, part := range query.Elements(expression.Data) {
		if part.IsDocument() || part.IsArray() {
			if evaluate(doc, part) == want || anotherError(doc, part, got, want) {
				return true
			}
		}
	}
	return false
}
