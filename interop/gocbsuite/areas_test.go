package gocbsuite

import "regexp"

// area is tests that concern one subject.
type area struct {
	name  string
	tests *regexp.Regexp
	// outside is why the server does not serve the subject; "" if it does.
	outside string
	// features are the suite's own names for the subject. The suite skips the tests of features that it is told not to test.
	features []string
}

// areas has all subjects. A test belongs to the first whose expression its name matches.
var areas = []area{
	{
		"transactions", regexp.MustCompile(`Transaction`), "transactions are not served",
		[]string{"transactions", "transactionsbulk", "transactionsquery"},
	},
	{
		"eventing", regexp.MustCompile(`Eventing`), "eventing is not served",
		[]string{"eventingmanagement", "scopeeventingmanagement"},
	},
	{"range scan", regexp.MustCompile(`^TestRangeScan`), "range scans are not served", []string{"rangescan"}},
	{
		"users", regexp.MustCompile(`^TestUserManager`), "users are not written",
		[]string{"usermanager", "usergroup", "usermanagerchangepassword"},
	},
	{"query indexes", regexp.MustCompile(`QueryIndex`), "query indexes are not written", []string{"queryindex"}},
	{"search indexes", regexp.MustCompile(`^Test(Scope)?SearchIndex`), "search indexes are not written", nil},

	{name: "analytics indexes", tests: regexp.MustCompile(`^TestAnalyticsIndexes`)},
	{name: "views", tests: regexp.MustCompile(`^TestView`)},
	{name: "analytics", tests: regexp.MustCompile(`^Test(Cluster|Scope)AnalyticsQuery`)},
	{name: "search", tests: regexp.MustCompile(`^Test(Scope)?Search`)},
	{name: "query", tests: regexp.MustCompile(`^Test(Cluster|Scope)?Query`)},
	{name: "buckets", tests: regexp.MustCompile(`^TestBucketMgr`)},
	{
		name:  "collections",
		tests: regexp.MustCompile(`^Test(CollectionManager|DropNonExistent|DropScopes|GetAllScopes|NumberOf|MaxNumberOf|CollectionHistory|\w*CollectionWithMaxExpiry|Collections)`),
	},
	{name: "diagnostics and the cluster", tests: regexp.MustCompile(`^Test(Cluster|Bucket|Internal)`)},
	{name: "sub-document", tests: regexp.MustCompile(`LookupIn|MutateIn|Subdoc|ComboConverted|CasMismatchConverted`)},
	{name: "data structures", tests: regexp.MustCompile(`^Test(List|Set|Queue|Map)Crud`)},
	{
		name: "key-value",
		tests: regexp.MustCompile(
			`^Test(Binary|Error|Expir|PreserveExpiry|Insert|Upsert|Exists|CollectionRetry|Remove|Replace|GetA|Unlock|DoubleLock|Touch|` +
				`DurabilityGet|BasicCrud|TimeoutError|KvOpManager)`),
	},
}

// areaOf returns the subject of a test, nil if it has none.
func areaOf(test string) *area {
	for i := range areas {
		if areas[i].tests.MatchString(test) {
			return &areas[i]
		}
	}
	return nil
}

// featuresNotTested returns what tells the suite which features it is not to test.
func featuresNotTested() (list []string) {
	for _, a := range areas {
		for _, f := range a.features {
			list = append(list, "-"+f)
		}
	}
	return list
}
