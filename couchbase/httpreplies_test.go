package couchbase

import (
	"encoding/json"
	"testing"
)

// FuzzHTTPReplies gives every reader of the answers of HTTP services any bytes: none may panic.
func FuzzHTTPReplies(f *testing.F) {
	for _, s := range []string{
		`{"requestID":"x","status":"success","metrics":{"elapsedTime":"1ms","resultCount":2},"warnings":[{"code":1,"msg":"m"}]}`,
		`{"status":{"total":1,"errors":{"a":"b"}},"facets":{"x":{"terms":[{"term":"t","count":1}]}},"took":5}`,
		`{"index":"i","id":"a","locations":{"f":{"t":[{"pos":1,"array_positions":[2]}]}},"fields":{}}`,
		`{"type":"couchbase","name":"n","encryption":"full"}`, `{"views":{"v":{"map":"m"}}}`, `{"status":{"errors":[1]}}`, `null`, `[]`, `{`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		query, err := readQueryMetaData(b)
		if err == nil && query.Status == "" {
			t.Error("a query without a status")
		}
		_, _ = readAnalyticsMetaData(b)
		_, _ = readSearchMetaData(b)
		_, _ = readFacets(b)
		if link, err := readAnalyticsLink(b); err == nil {
			_ = link.Validate()
			if _, err := link.FormEncode(); err != nil {
				t.Error(err)
			}
		}
		if row, err := readSearchRow(b); err == nil {
			_ = row.Fields(new(any))
		}
		for _, value := range []any{new(QueryIndex), new(AnalyticsDataset), new(AnalyticsIndex), new(SearchIndex), new(designJSON)} {
			_ = json.Unmarshal(b, value)
		}
	})
}
