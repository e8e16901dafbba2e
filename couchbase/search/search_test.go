package search

import (
	"encoding/json"
	"testing"
)

// TestValuesAreTheJSONOfTheService: interop compares the same values with those of the official SDK.
func TestValuesAreTheJSONOfTheService(t *testing.T) {
	term := NewTermQuery("t")
	for want, value := range map[string]any{
		`{"analyzer":"a","boost":1.5,"field":"f","fuzziness":1,"match":"x","operator":"and","prefix_length":2}`:                                 NewMatchQuery("x").Analyzer("a").Boost(1.5).Field("f").Fuzziness(1).Operator(MatchOperatorAnd).PrefixLength(2),
		`{"analyzer":"a","boost":1,"field":"f","match_phrase":"x y"}`:                                                                           NewMatchPhraseQuery("x y").Analyzer("a").Boost(1).Field("f"),
		`{"boost":1,"field":"f","fuzziness":1,"prefix_length":2,"term":"x"}`:                                                                    NewTermQuery("x").Boost(1).Field("f").Fuzziness(1).PrefixLength(2),
		`{"boost":1,"field":"f","terms":["x","y"]}`:                                                                                             NewPhraseQuery("x", "y").Boost(1).Field("f"),
		`{"boost":1,"field":"f","prefix":"x"}`:                                                                                                  NewPrefixQuery("x").Boost(1).Field("f"),
		`{"boost":1,"field":"f","regexp":"x"}`:                                                                                                  NewRegexpQuery("x").Boost(1).Field("f"),
		`{"boost":1,"field":"f","wildcard":"x*"}`:                                                                                               NewWildcardQuery("x*").Boost(1).Field("f"),
		`{"boost":1,"query":"+x"}`:                                                                                                              NewQueryStringQuery("+x").Boost(1),
		`{"boost":1,"field":"f","inclusive_max":false,"inclusive_min":true,"max":2,"min":1}`:                                                    NewNumericRangeQuery().Min(1, true).Max(2, false).Boost(1).Field("f"),
		`{"boost":1,"field":"f","inclusive_max":false,"inclusive_min":true,"max":"b","min":"a"}`:                                                NewTermRangeQuery().Min("a", true).Max("b", false).Boost(1).Field("f"),
		`{"boost":1,"datetime_parser":"p","end":"b","field":"f","inclusive_end":false,"inclusive_start":true,"start":"a"}`:                      NewDateRangeQuery().Start("a", true).End("b", false).DateTimeParser("p").Boost(1).Field("f"),
		`{"boost":1,"conjuncts":[{"term":"t"},{"term":"t"}]}`:                                                                                   NewConjunctionQuery(term).And(term).Boost(1),
		`{"boost":1,"disjuncts":[{"term":"t"},{"term":"t"}],"min":2}`:                                                                           NewDisjunctionQuery(term).Or(term).Min(2).Boost(1),
		`{"boost":1,"must":{"conjuncts":[{"term":"t"}]},"must_not":{"disjuncts":[{"term":"t"}]},"should":{"disjuncts":[{"term":"t"}],"min":1}}`: NewBooleanQuery().Must(term).MustNot(term).Should(term).ShouldMin(1).Boost(1),
		`{"bool":true,"boost":1,"field":"f"}`:                                                                                                   NewBooleanFieldQuery(true).Boost(1).Field("f"),
		`{"boost":1,"field":"f","ids":["a","b"]}`:                                                                                               NewDocIDQuery("a").AddDocIds("b").Boost(1).Field("f"),
		`{"boost":1,"bottom_right":[3,4],"field":"f","top_left":[1,2]}`:                                                                         NewGeoBoundingBoxQuery(1, 2, 3, 4).Boost(1).Field("f"),
		`{"boost":1,"distance":"10mi","field":"f","location":[1,2]}`:                                                                            NewGeoDistanceQuery(1, 2, "10mi").Boost(1).Field("f"),
		`{"boost":1,"field":"f","polygon_points":[[1,2],[3,4]]}`:                                                                                NewGeoPolygonQuery([]Coordinate{{1, 2}, {3, 4}}).Boost(1).Field("f"),
		`{"match_all":null}`:         NewMatchAllQuery(),
		`{"match_none":null}`:        NewMatchNoneQuery(),
		`{"by":"score","desc":true}`: NewSearchSortScore().Descending(true),
		`{"by":"id"}`:                NewSearchSortID().Descending(true).Descending(false),
		`{"by":"field","field":"f","missing":"last","mode":"min","type":"number"}`:      NewSearchSortField("f").Type("number").Mode("min").Missing("last").Descending(false),
		`{"by":"geo_distance","desc":true,"field":"g","location":[1,2],"unit":"miles"}`: NewSearchSortGeoDistance("g", 1, 2).Unit("miles").Descending(true),
		`{"field":"f","size":3}`: NewTermFacet("f", 3),
		`{"field":"f","numeric_ranges":[{"max":2,"min":1,"name":"r"},{"max":4,"min":3,"name":"s"}],"size":3}`: NewNumericFacet("f", 3).AddRange("r", 1, 2).AddRange("s", 3, 4),
		`{"date_ranges":[{"end":"b","name":"r","start":"a"}],"field":"f","size":3}`:                           NewDateFacet("f", 3).AddRange("r", "a", "b"),
	} {
		if got, err := json.Marshal(value); err != nil || string(got) != want {
			t.Errorf("got  %s, %v\nwant %s", got, err, want)
		}
	}
}

func TestZeroValuesCanBeUsed(t *testing.T) {
	if got, err := json.Marshal(new(MatchQuery).Field("f")); err != nil || string(got) != `{"field":"f"}` {
		t.Errorf("%s, %v", got, err)
	}
}
