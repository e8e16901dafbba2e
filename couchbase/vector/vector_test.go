package vector

import (
	"encoding/json"
	"testing"

	"github.com/holdfast-db/holdfast/couchbase/search"
)

func TestQueriesAreTheJSONOfTheService(t *testing.T) {
	for want, q := range map[string]*Query{
		`{"field":"f","k":3,"vector":[1,2.5]}`:                                       NewQuery("f", []float32{1, 2.5}),
		`{"boost":2,"field":"f","filter":{"term":"x"},"k":7,"vector_base64":"AAAA"}`: NewBase64Query("f", "AAAA").NumCandidates(7).Boost(2).Prefilter(search.NewTermQuery("x")),
	} {
		if got, err := json.Marshal(q.Internal()); err != nil || string(got) != want || q.Internal().Validate() != nil {
			t.Errorf("got  %s, %v\nwant %s", got, err, want)
		}
	}
}

func TestSearchesThatCannotBeSentAreRefused(t *testing.T) {
	for want, s := range map[string]*Search{
		"the vector search has no query":                                       NewSearch(nil, nil),
		"query 0: the name of the field of a vector query is empty":            NewSearch([]*Query{NewQuery("", []float32{1})}, nil),
		"query 0: the vector of a vector query is empty":                       NewSearch([]*Query{NewQuery("f", nil)}, nil),
		"query 0: NumCandidates of a vector query is 0: it must be at least 1": NewSearch([]*Query{NewQuery("f", []float32{1}).NumCandidates(0)}, nil),
	} {
		if err := s.Internal().Validate(); err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}
