package suite

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

// termSearch is a search for a term, with facets.
type termSearch struct {
	Query struct {
		Term, Field string
	}
	Facets map[string]facet
}

// facet is a question about a field of the documents found, and the answer to it.
type facet struct {
	Field   string          `json:"field"`
	Size    int             `json:"size,omitempty"`
	Total   int             `json:"total"`
	Missing int             `json:"missing"`
	Other   int             `json:"other"`
	Terms   []termCount     `json:"terms,omitempty"`
	Numbers []*numericRange `json:"numeric_ranges,omitempty"`
	Dates   []*dateRange    `json:"date_ranges,omitempty"`
}

type termCount struct {
	Term  string `json:"term"`
	Count int    `json:"count"`
}

type numericRange struct {
	Name  string  `json:"name"`
	Min   float64 `json:"min"`
	Max   float64 `json:"max"`
	Count int     `json:"count"`
}

type dateRange struct {
	Name  string `json:"name"`
	Start string `json:"start"`
	End   string `json:"end"`
	Count int    `json:"count"`
}

// isTermSearch reports whether a request searches one of the tests' indexes for a term.
func isTermSearch(r *couchbasetest.HTTPRequest) bool {
	var search termSearch
	return (r.Index == "search_test_index" || r.Index == "default._default.scope_search_test_index") &&
		json.Unmarshal(r.Body, &search) == nil && search.Query.Term != ""
}

// search answers with the documents whose field has the term. The score of each is the number of times that it has it.
func (a *answers) search(r *couchbasetest.HTTPRequest) couchbasetest.HTTPAnswer {
	var search termSearch
	_ = json.Unmarshal(r.Body, &search) // isTermSearch has read it
	var answer couchbasetest.HTTPAnswer
	var found []document
	for _, d := range a.documents() {
		places := d.places(search.Query.Field, search.Query.Term)
		if len(places) == 0 {
			continue
		}
		found = append(found, d)
		answer.Rows = append(answer.Rows, map[string]any{
			"index": r.Index, "id": d.id, "score": len(places), "locations": map[string]any{search.Query.Field: map[string]any{search.Query.Term: places}},
		})
	}
	answers := make(map[string]facet)
	for name, f := range search.Facets {
		f.count(found)
		answers[name] = f
	}
	answer.Fields = map[string]any{"facets": answers}
	return answer
}

// place is where a field has a term.
type place struct {
	Position       int   `json:"pos"`
	Start          int   `json:"start"`
	End            int   `json:"end"`
	ArrayPositions []int `json:"array_positions"`
}

func (d *document) places(field, term string) (list []place) {
	text, _ := d.field(field).(string)
	at := 0
	for i, word := range words(text) {
		start := at + strings.Index(strings.ToLower(text[at:]), word)
		at = start + len(word)
		if word == term {
			list = append(list, place{Position: i + 1, Start: start, End: at})
		}
	}
	return list
}

// words returns the terms of a text: its words in lower case.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// count fills a facet in.
func (f *facet) count(found []document) {
	counts := make(map[string]int)
	for _, d := range found {
		value := d.field(f.Field)
		if value == nil {
			f.Missing++
			continue
		}
		switch {
		case f.Numbers != nil:
			f.countNumber(value)
		case f.Dates != nil:
			f.countDate(value)
		default:
			text, _ := value.(string)
			for _, word := range words(text) {
				counts[word]++
				f.Total++
			}
		}
	}
	for term, n := range counts {
		f.Terms = append(f.Terms, termCount{term, n})
	}
	slices.SortFunc(f.Terms, func(a, b termCount) int { return cmp.Or(b.Count-a.Count, strings.Compare(a.Term, b.Term)) })
	for len(f.Terms) > f.Size {
		f.Other += f.Terms[len(f.Terms)-1].Count
		f.Terms = f.Terms[:len(f.Terms)-1]
	}
	for _, r := range f.Dates {
		r.Start, r.End = moment(r.Start).Format(time.RFC3339), moment(r.End).Format(time.RFC3339)
	}
}

func (f *facet) countNumber(value any) {
	n, ok := value.(float64)
	for _, r := range f.Numbers {
		if ok && r.Min <= n && n < r.Max {
			r.Count++
			f.Total++
		}
	}
}

func (f *facet) countDate(value any) {
	text, _ := value.(string)
	when := moment(text)
	for _, r := range f.Dates {
		if !when.IsZero() && !when.Before(moment(r.Start)) && when.Before(moment(r.End)) {
			r.Count++
			f.Total++
		}
	}
}

// moment reads a time as the documents have it.
func moment(text string) time.Time {
	t, _ := time.Parse(time.DateTime, text) // zero if it is not one
	return t
}
