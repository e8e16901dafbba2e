package differential

import (
	"regexp"
	"sync/atomic"
	"testing"
)

// difference is one kind of reply in which the two servers differ and go on differing.
type difference struct {
	reason string
	// example is a sequence whose last command shows it. It is asked whenever the tests run, so that a row which is needed no
	// more fails them.
	example []string
	// command, ours and theirs are what the three look like.
	command, ours, theirs *regexp.Regexp
	same                  func(a *answer) bool // tells whether they say the same otherwise; nil if they need not
	// seldom is how often it may be met in 1,000 commands, where the patterns cannot tell it from other differences; 0 for
	// as often as may be.
	seldom int
	parts  bool // their data differ from then on
	used   atomic.Int64
}

var differences = []*difference{
	{
		reason: "the real server's alpha fails at dependencies and patternProperties where an index gives the order",
		example: []string{
			`{"insert": "c", "documents": [{"a": 1}]}`,
			`{"find": "c", "filter": {"$jsonSchema": {"dependencies": {"a": ["b"]}}}, "sort": {"_id": 1}}`,
		},
		command: regexp.MustCompile(`\$jsonSchema`),
		ours:    regexp.MustCompile(`.`),
		theirs:  regexp.MustCompile(`"Unexpected child count!","code": 10360111`),
		parts:   true,
	},
	{
		reason:  "the real server's alpha has no $$NOW in count and distinct",
		example: []string{`{"insert": "c", "documents": [{"_id": 1}]}`, `{"count": "c", "query": {"$expr": "$$NOW"}}`},
		command: regexp.MustCompile(`^\{"(count|distinct)":.*"\$\$NOW`),
		ours:    regexp.MustCompile(`"ok": 1.0\}$`),
		theirs:  regexp.MustCompile(`Builtin variable '\$\$NOW' is not available`),
	},
	{
		reason:  "why a text is no date is said in other words",
		example: []string{`{"aggregate": "c", "pipeline": [{"$set": {"a": {"$toDate": " x "}}}], "cursor": {}}`},
		command: regexp.MustCompile(`"\$(toDate|dateFromString|convert)"`),
		ours:    regexp.MustCompile(`Error parsing date string '.*"code": 241`),
		theirs:  regexp.MustCompile(`(Error parsing date string '|an incomplete date/time string).*"code": 241`),
	},
	{
		reason: "text that is no UTF-8, made by replacing between bytes, is looked at by the real server",
		example: []string{
			`{"insert": "c", "documents": [{"s": "héllo"}]}`,
			`{"aggregate": "c", "pipeline": [{"$project": {"e": {"$ltrim": {"input": "$s", "chars": {"$replaceAll": {"input": "$s", "find": "", "replacement": "x"}}}}}}], "cursor": {}}`,
		},
		command: regexp.MustCompile(`"\$replace(One|All)"`),
		ours:    regexp.MustCompile(`.`),
		theirs:  regexp.MustCompile(`(invalid|bad) UTF-8|UTF-8 error|\\ufffd`),
	},
	{
		reason: "within a $facet the real server's own $match finds null at a path into an array of documents and scalars otherwise",
		example: []string{
			`{"insert": "c", "documents": [{"_id": 1, "a": [{"x": [1, 5]}, 7]}]}`,
			`{"aggregate": "c", "pipeline": [{"$facet": {"q": [{"$match": {"a.x": null}}, {"$count": "z"}]}}], "cursor": {}}`,
		},
		command: regexp.MustCompile(`"\$facet":.*"\$match":.*:null`),
		ours:    regexp.MustCompile(`"ok": 1.0\}$`),
		theirs:  regexp.MustCompile(`"ok": 1.0\}$`),
		seldom:  1,
	},
	{
		reason: "the real server refuses times that are far beyond its calendar where days are added to them",
		example: []string{
			`{"insert": "c", "documents": [{"_id": 1}]}`,
			`{"aggregate": "c", "pipeline": [{"$project": {"e": {"$dateSubtract": {"startDate": {"$subtract": [{"$date": {"$numberLong": "-1"}}, {"$numberLong": "9223372036854775807"}]}, "unit": "day", "amount": 1}}}}], "cursor": {}}`,
		},
		command: regexp.MustCompile(`"\$date(Add|Subtract|Trunc)"`),
		ours:    regexp.MustCompile(`"ok": 1.0\}$`),
		theirs:  regexp.MustCompile(`dateAdd overflowed","code": 5166406`),
		parts:   true,
	},
	{
		reason:  "the real server compared with keeps no sessions",
		example: []string{`{"aggregate": 1, "pipeline": [{"$listLocalSessions": {}}], "cursor": {}}`},
		command: regexp.MustCompile(`\$listLocalSessions`),
		ours:    regexp.MustCompile(`"ok": 1.0\}$`),
		theirs:  regexp.MustCompile(`missing a LogicalSessionCache`),
		parts:   true,
	},
}

// explanation returns the row that says why the answers differ, nil if there is none.
func (p *pair) explanation(a *answer) *difference {
	text := p.show(a.command)
	for _, d := range differences {
		if d.command.MatchString(text) && d.ours.MatchString(a.ours.text) && d.theirs.MatchString(a.theirs.text) &&
			(d.same == nil || d.same(a)) {
			d.used.Add(1)
			return d
		}
	}
	return nil
}

// TestDifferencesAreThere asks each row's example, which must be one of that row.
func TestDifferencesAreThere(t *testing.T) {
	p := newPair(t, "rows")
	for _, d := range differences {
		if err := p.clear(); err != nil {
			t.Fatal(err)
		}
		for i, text := range d.example {
			command, err := parseCommand(text, p.db)
			if err != nil {
				t.Fatal(err)
			}
			a, err := p.ask(command)
			if err != nil {
				t.Fatal(err)
			}
			if last := i == len(d.example)-1; a.same() == last || last && p.explanation(&a) != d {
				t.Errorf("%s: %s\ngot  %s\nwant %s", d.reason, text, a.ours.text, a.theirs.text)
			}
		}
	}
}
