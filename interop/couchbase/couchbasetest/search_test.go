package couchbasetest

import (
	"testing"

	"github.com/couchbase/gocb/v2"
	"github.com/couchbase/gocb/v2/search"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

func TestGocbSearches(t *testing.T) {
	cluster := couchbasetest.RunT(t)
	client, _ := connectCluster(t, cluster)
	_, err := client.SearchQuery("i", search.NewMatchQuery("x"), nil)
	must(t, "a search in no index", err, gocb.ErrIndexNotFound)
	indexes := client.SearchIndexes()
	def := gocb.SearchIndex{Name: "i", Type: "fulltext-index", SourceName: "default", SourceType: "couchbase"}
	must(t, "UpsertIndex", indexes.UpsertIndex(def, nil), nil)
	must(t, "UpsertIndex again", indexes.UpsertIndex(def, nil), gocb.ErrIndexExists)
	stored, err := indexes.GetIndex("i", nil)
	must(t, "GetIndex", err, nil)
	must(t, "UpsertIndex with the UUID", indexes.UpsertIndex(*stored, nil), nil)
	all, err := indexes.GetAllIndexes(nil)
	must(t, "GetAllIndexes", err, nil)
	if len(all) != 1 || all[0].Name != "i" || all[0].SourceName != "default" {
		t.Errorf("indexes %+v", all)
	}
	cluster.HTTP().Script(couchbasetest.HTTPWhen{Path: "/api/index/i/query"}, 0, couchbasetest.HTTPScript{Answer: couchbasetest.HTTPAnswer{
		Rows: []any{map[string]any{"index": "i", "id": "a", "score": 1.5, "fields": map[string]string{"f": "x"}}},
	}})
	result, err := client.SearchQuery("i", search.NewMatchQuery("x"), nil)
	must(t, "SearchQuery", err, nil)
	rows := 0
	for ; result.Next(); rows++ {
		if row := result.Row(); row.ID != "a" || row.Score != 1.5 {
			t.Errorf("row %+v", row)
		}
	}
	must(t, "rows", result.Err(), nil)
	meta, err := result.MetaData()
	must(t, "MetaData", err, nil)
	if rows != 1 || meta.Metrics.TotalRows != 1 || meta.Metrics.MaxScore != 1.5 || meta.Metrics.Took <= 0 {
		t.Errorf("%d rows, %+v", rows, meta.Metrics)
	}
	must(t, "DropIndex", indexes.DropIndex("i", nil), nil)
	must(t, "DropIndex again", indexes.DropIndex("i", nil), gocb.ErrIndexNotFound)
}

func TestGocbReadsViews(t *testing.T) {
	cluster := couchbasetest.RunT(t)
	_, bucket := connectCluster(t, cluster)
	_, err := bucket.ViewQuery("d", "v", nil)
	must(t, "a view of no design document", err, gocb.ErrViewNotFound)
	designs := bucket.ViewIndexes()
	def := gocb.DesignDocument{Name: "d", Views: map[string]gocb.View{"v": {Map: "function (doc) {}", Reduce: "_count"}}}
	must(t, "UpsertDesignDocument", designs.UpsertDesignDocument(def, gocb.DesignDocumentNamespaceDevelopment, nil), nil)
	must(t, "PublishDesignDocument", designs.PublishDesignDocument("d", nil), nil)
	all, err := designs.GetAllDesignDocuments(gocb.DesignDocumentNamespaceProduction, nil)
	must(t, "GetAllDesignDocuments", err, nil)
	if len(all) != 1 || all[0].Name != "d" || all[0].Views["v"] != def.Views["v"] {
		t.Errorf("design documents %+v", all)
	}
	cluster.HTTP().Script(couchbasetest.HTTPWhen{Path: "/default/_design/d/_view/v"}, 0, couchbasetest.HTTPScript{Answer: couchbasetest.HTTPAnswer{
		Rows: []any{map[string]any{"id": "a", "key": "k", "value": 1}},
	}})
	result, err := bucket.ViewQuery("d", "v", &gocb.ViewOptions{Debug: true})
	must(t, "ViewQuery", err, nil)
	rows := 0
	for ; result.Next(); rows++ {
		if row := result.Row(); row.ID != "a" {
			t.Errorf("row %+v", row)
		}
	}
	must(t, "rows", result.Err(), nil)
	meta, err := result.MetaData()
	must(t, "MetaData", err, nil)
	if rows != 1 || meta.TotalRows != 1 || meta.Debug == nil {
		t.Errorf("%d rows, %+v", rows, meta)
	}
	must(t, "DropDesignDocument", designs.DropDesignDocument("d", gocb.DesignDocumentNamespaceProduction, nil), nil)
	must(t, "DropDesignDocument again", designs.DropDesignDocument("d", gocb.DesignDocumentNamespaceProduction, nil), gocb.ErrDesignDocumentNotFound)
}

func TestGocbUsesAnalytics(t *testing.T) {
	cluster := couchbasetest.RunT(t)
	client, _ := connectCluster(t, cluster)
	result, err := client.AnalyticsQuery("SELECT 1=1", nil)
	must(t, "AnalyticsQuery", err, nil)
	var row map[string]bool
	must(t, "One", result.One(&row), nil)
	meta, err := result.MetaData()
	must(t, "MetaData", err, nil)
	if !row["$1"] || meta.Metrics.ResultCount != 1 {
		t.Errorf("row %v, %+v", row, meta)
	}
	for code, want := range map[int]error{24045: gocb.ErrDatasetNotFound, 24034: gocb.ErrDataverseNotFound, 24000: gocb.ErrParsingFailure, 20000: gocb.ErrAuthenticationFailure} {
		cluster.HTTP().Script(couchbasetest.HTTPWhen{}, 1, couchbasetest.HTTPScript{Answer: couchbasetest.HTTPAnswer{
			Errors: []couchbasetest.HTTPProblem{{Code: code, Message: "m"}},
		}})
		_, err = client.AnalyticsQuery("x", nil)
		must(t, "AnalyticsQuery", err, want)
	}
	links := client.AnalyticsIndexes()
	link := gocb.NewS3ExternalAnalyticsLink("l", "d", "key", "secret", "region", nil)
	must(t, "CreateLink", links.CreateLink(link, nil), nil)
	must(t, "CreateLink again", links.CreateLink(link, nil), gocb.ErrAnalyticsLinkExists)
	all, err := links.GetLinks(nil)
	must(t, "GetLinks", err, nil)
	if len(all) != 1 || all[0].Name() != "l" {
		t.Errorf("links %v", all)
	}
	must(t, "DropLink", links.DropLink("l", "d", nil), nil)
	pending, err := links.GetPendingMutations(nil)
	must(t, "GetPendingMutations", err, nil)
	if len(pending) > 0 {
		t.Errorf("pending mutations %v", pending)
	}
}
