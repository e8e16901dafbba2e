package couchbase

import (
	"encoding/json"
	"time"
)

// SearchResult is the result of a search. It must be closed, or read to its end. It is not safe for concurrent use.
type SearchResult struct {
	stream rowStream
	row    SearchRow
	err    error // of decoding a hit
}

// Next reads the next hit. It returns false at the end and after an error, which [SearchResult.Err] returns.
func (r *SearchResult) Next() bool {
	r.row = SearchRow{}
	if r.err != nil || !r.stream.next() {
		return false
	}
	if r.row, r.err = readSearchRow(r.stream.rows.Row()); r.err != nil {
		r.stream.close()
		return false
	}
	return true
}

// Row returns the current hit.
func (r *SearchResult) Row() SearchRow { return r.row }

// Err returns the error that ended the hits, or nil. An error of the service is a pointer to a [SearchError]. That only some
// partitions of the index answered is no error: see [SearchMetrics].
func (r *SearchResult) Err() error {
	if r.err != nil {
		return r.err
	}
	return r.stream.err()
}

// Close ends the search if it is still under way, and returns what Err does.
func (r *SearchResult) Close() error {
	if err := r.stream.close(); r.err == nil {
		return err
	}
	return r.err
}

// MetaData returns what the result has beside its hits. It is known after the last hit.
func (r *SearchResult) MetaData() (*SearchMetaData, error) {
	b, err := r.stream.metaData()
	if err != nil {
		return nil, err
	}
	return readSearchMetaData(b)
}

// Facets returns the facets, by the names that the options gave them. They are known after the last hit.
func (r *SearchResult) Facets() (map[string]SearchFacetResult, error) {
	b, err := r.stream.metaData()
	if err != nil {
		return nil, err
	}
	return readFacets(b)
}

// Raw returns the result as bytes. The SearchResult cannot be used any more.
func (r *SearchResult) Raw() *SearchResultRaw { return &SearchResultRaw{r.stream.give()} }

// SearchResultRaw is a result as bytes. It must be closed, or read to its end.
type SearchResultRaw struct{ stream rowStream }

// NextBytes returns the next hit, or nil at the end and after an error.
func (srr *SearchResultRaw) NextBytes() []byte { return srr.stream.nextBytes() }

// Err returns the error that ended the hits, or nil.
func (srr *SearchResultRaw) Err() error { return srr.stream.err() }

// Close ends the search if it is still under way, and returns what Err does.
func (srr *SearchResultRaw) Close() error { return srr.stream.close() }

// MetaData returns what the result has beside its hits, as one JSON object. It is known after the last hit.
func (srr *SearchResultRaw) MetaData() ([]byte, error) { return srr.stream.metaData() }

// SearchRow is one hit.
type SearchRow struct {
	Index       string
	ID          string
	Score       float64
	Explanation any
	Locations   map[string]map[string][]SearchRowLocation // by field and term
	Fragments   map[string][]string                       // by field
	fields      json.RawMessage
}

// SearchRowLocation is where a term stands in a field.
type SearchRowLocation struct {
	Position       uint32 // the number of the word
	Start          uint32 // bytes
	End            uint32
	ArrayPositions []uint32
}

// Fields decodes the fields of the hit. It returns [ErrNoResult] if it has none.
func (sr *SearchRow) Fields(valuePtr any) error {
	if sr.fields == nil {
		return ErrNoResult
	}
	return decode(sr.fields, valuePtr)
}

func readSearchRow(b []byte) (SearchRow, error) {
	type location struct {
		Position       uint32   `json:"pos"`
		Start          uint32   `json:"start"`
		End            uint32   `json:"end"`
		ArrayPositions []uint32 `json:"array_positions"`
	}
	var hit struct {
		Index       string                           `json:"index"`
		ID          string                           `json:"id"`
		Score       float64                          `json:"score"`
		Explanation any                              `json:"explanation"`
		Locations   map[string]map[string][]location `json:"locations"`
		Fragments   map[string][]string              `json:"fragments"`
		Fields      json.RawMessage                  `json:"fields"`
	}
	if err := json.Unmarshal(b, &hit); err != nil {
		return SearchRow{}, err
	}
	row := SearchRow{
		Index: hit.Index, ID: hit.ID, Score: hit.Score, Explanation: hit.Explanation, Fragments: hit.Fragments, fields: hit.Fields,
	}
	for field, terms := range hit.Locations {
		if row.Locations == nil {
			row.Locations = make(map[string]map[string][]SearchRowLocation)
		}
		row.Locations[field] = make(map[string][]SearchRowLocation)
		for term, locations := range terms {
			for _, l := range locations {
				row.Locations[field][term] = append(row.Locations[field][term], SearchRowLocation(l))
			}
		}
	}
	return row, nil
}

// SearchMetaData is what a result has beside its hits.
type SearchMetaData struct {
	Metrics SearchMetrics
	Errors  map[string]string // by partition: why it did not answer
}

// SearchMetrics are the service's measurements of a search. If some partitions failed, hits are missing.
type SearchMetrics struct {
	Took                  time.Duration
	TotalRows             uint64 // the hits, also those that the limit left out
	MaxScore              float64
	TotalPartitionCount   uint64
	SuccessPartitionCount uint64
	ErrorPartitionCount   uint64
}

func readSearchMetaData(b []byte) (*SearchMetaData, error) {
	var m struct {
		Status struct {
			Total      uint64          `json:"total"`
			Failed     uint64          `json:"failed"`
			Successful uint64          `json:"successful"`
			Errors     json.RawMessage `json:"errors"`
		} `json:"status"`
		TotalHits uint64  `json:"total_hits"`
		MaxScore  float64 `json:"max_score"`
		Took      uint64  `json:"took"`
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, err
	}
	meta := &SearchMetaData{Metrics: SearchMetrics{
		Took: time.Duration(m.Took), TotalRows: m.TotalHits, MaxScore: m.MaxScore, TotalPartitionCount: m.Status.Total, //nolint:gosec // a duration
		SuccessPartitionCount: m.Status.Successful, ErrorPartitionCount: m.Status.Failed,
	}}
	if json.Unmarshal(m.Status.Errors, &meta.Errors) != nil {
		meta.Errors = map[string]string{"": string(m.Status.Errors)}
	}
	if len(m.Status.Errors) == 0 {
		meta.Errors = nil
	}
	return meta, nil
}

// SearchFacetResult is the result of one facet.
type SearchFacetResult struct {
	Name          string
	Field         string
	Total         uint64
	Missing       uint64
	Other         uint64
	Terms         []SearchTermFacetResult
	NumericRanges []SearchNumericRangeFacetResult
	DateRanges    []SearchDateRangeFacetResult
}

// SearchTermFacetResult counts the hits with a term.
type SearchTermFacetResult struct {
	Term  string
	Count int
}

// SearchNumericRangeFacetResult counts the hits in a range of numbers.
type SearchNumericRangeFacetResult struct {
	Name  string
	Min   float64
	Max   float64
	Count int
}

// SearchDateRangeFacetResult counts the hits in a range of dates.
type SearchDateRangeFacetResult struct {
	Name  string
	Start string
	End   string
	Count int
}

func readFacets(b []byte) (map[string]SearchFacetResult, error) {
	type facet struct {
		Field   string                  `json:"field"`
		Total   uint64                  `json:"total"`
		Missing uint64                  `json:"missing"`
		Other   uint64                  `json:"other"`
		Terms   []SearchTermFacetResult `json:"terms"`
		// The names of the fields differ from the service's only in their case, which encoding/json ignores.
		NumericRanges []SearchNumericRangeFacetResult `json:"numeric_ranges"`
		DateRanges    []SearchDateRangeFacetResult    `json:"date_ranges"`
	}
	var m struct {
		Facets map[string]facet `json:"facets"`
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, err
	}
	facets := make(map[string]SearchFacetResult, len(m.Facets))
	for name, f := range m.Facets {
		facets[name] = SearchFacetResult{
			Name: name, Field: f.Field, Total: f.Total, Missing: f.Missing, Other: f.Other, Terms: f.Terms, NumericRanges: f.NumericRanges,
			DateRanges: f.DateRanges,
		}
	}
	return facets, nil
}
