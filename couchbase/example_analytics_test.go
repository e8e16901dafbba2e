package couchbase_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

func ExampleCluster_AnalyticsQuery() {
	servers, cluster, end := exampleCluster()
	defer end()
	answerOf(servers, couchbasetest.Analytics, couchbasetest.HTTPAnswer{
		Rows: []any{"Ada", "Bob"}, Warnings: []couchbasetest.HTTPProblem{{Code: 7, Message: "no index"}},
	})
	result, err := cluster.AnalyticsQuery("SELECT VALUE owner FROM accounts WHERE balance > ?", &couchbase.AnalyticsOptions{
		PositionalParameters: []any{5},
		ScanConsistency:      couchbase.AnalyticsScanConsistencyRequestPlus,
		Readonly:             true,
	})
	ok(err)
	for result.Next() {
		var owner string
		ok(result.Row(&owner))
		fmt.Println(owner)
	}
	ok(result.Err())
	meta, err := result.MetaData()
	ok(err)
	printAnalyticsMetaData(meta)
	// Output:
	// Ada
	// Bob
	// rows: 2 warnings: [{7 no index}]
}

func printAnalyticsMetaData(meta *couchbase.AnalyticsMetaData) {
	fmt.Println("rows:", meta.Metrics.ResultCount, "warnings:", meta.Warnings)
}

func ExampleAnalyticsResult_Raw() {
	servers, cluster, end := exampleCluster()
	defer end()
	answerOf(servers, couchbasetest.Analytics, couchbasetest.HTTPAnswer{Rows: []any{map[string]any{"n": 1}}})
	result, err := cluster.AnalyticsQuery("SELECT n FROM numbers", nil)
	ok(err)
	raw := result.Raw()
	fmt.Printf("%s\n", raw.NextBytes())
	ok(raw.Close())
	// Output:
	// {"n":1}
}

func ExampleAnalyticsError() {
	servers, cluster, end := exampleCluster()
	defer end()
	answerOf(servers, couchbasetest.Analytics, couchbasetest.HTTPAnswer{Errors: []couchbasetest.HTTPProblem{{Code: 24045, Message: "no such dataset"}}})
	_, err := cluster.AnalyticsQuery("SELECT * FROM none", nil)
	var failed *couchbase.AnalyticsError
	if errors.As(err, &failed) {
		fmt.Println(failed.Errors[0].Code, failed.Errors[0].Message)
	}
	fmt.Println(errors.Is(err, couchbase.ErrDatasetNotFound))
	// Output:
	// 24045 no such dataset
	// true
}

func ExampleAnalyticsIndexManager() {
	servers, cluster, end := exampleCluster()
	defer end()
	answerOf(servers, couchbasetest.Analytics, couchbasetest.HTTPAnswer{Rows: []any{
		map[string]any{"DatasetName": "accounts", "DataverseName": "Default", "BucketName": "default", "IndexName": "by_owner"},
	}})
	bodyAt(servers, "/analytics/node/agg/stats/remaining", `{"Default":{"accounts":5}}`)
	manager := cluster.AnalyticsIndexes()
	datasets, err := manager.GetAllDatasets(&couchbase.GetAllAnalyticsDatasetsOptions{Timeout: time.Minute})
	ok(err)
	fmt.Println(datasets[0].Name, datasets[0].BucketName)
	indexes, err := manager.GetAllIndexes(&couchbase.GetAllAnalyticsIndexesOptions{Timeout: time.Minute})
	ok(err)
	fmt.Println(indexes[0].Name, indexes[0].DatasetName)
	pending, err := manager.GetPendingMutations(&couchbase.GetPendingMutationsAnalyticsOptions{Timeout: time.Minute})
	ok(err)
	fmt.Println(pending["Default"]["accounts"])
	// Output:
	// accounts default
	// by_owner accounts
	// 5
}

func ExampleAnalyticsIndexManager_GetLinks() {
	servers, cluster, end := exampleCluster()
	defer end()
	bodyAt(servers, "/analytics/link*", `[{"type":"s3","name":"archive","scope":"Default","accessKeyId":"k","region":"eu-west-1"}]`)
	links, err := cluster.AnalyticsIndexes().GetLinks(&couchbase.GetAnalyticsLinksOptions{LinkType: couchbase.AnalyticsLinkTypeS3External})
	ok(err)
	for _, link := range links {
		fmt.Println(link.Name(), link.LinkType())
		if s3, isS3 := link.(*couchbase.S3ExternalAnalyticsLink); isS3 {
			fmt.Println(s3.Region)
		}
	}
	// Output:
	// archive s3
	// eu-west-1
}

// Validate reports what is missing in a link, before it is sent as a form.
func ExampleAnalyticsLink() {
	for _, link := range []couchbase.AnalyticsLink{
		&couchbase.S3ExternalAnalyticsLink{Dataverse: "v", LinkName: "s3", AccessKeyID: "k", SecretAccessKey: "s", Region: "r"},
		&couchbase.AzureBlobExternalAnalyticsLink{Dataverse: "v", LinkName: "azure", AccountName: "a", AccountKey: "k"},
		&couchbase.CouchbaseRemoteAnalyticsLink{
			Dataverse: "v", LinkName: "remote", Hostname: "h", Username: "u", Password: "p",
			Encryption: couchbase.CouchbaseRemoteAnalyticsEncryptionSettings{EncryptionLevel: couchbase.AnalyticsEncryptionLevelHalf},
		},
	} {
		ok(link.Validate())
		form, err := link.FormEncode()
		ok(err)
		fmt.Printf("%s\n", form)
	}
	err := (&couchbase.S3ExternalAnalyticsLink{LinkName: "s3"}).Validate()
	fmt.Println("incomplete:", errors.Is(err, couchbase.ErrInvalidArgument))
	// Output:
	// accessKeyId=k&dataverse=v&name=s3&region=r&secretAccessKey=s&type=s3
	// accountKey=k&accountName=a&dataverse=v&name=azure&type=azureblob
	// dataverse=v&encryption=half&hostname=h&name=remote&password=p&type=couchbase&username=u
	// incomplete: true
}
