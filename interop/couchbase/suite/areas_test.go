package suite

import "regexp"

// area is tests that concern one subject.
type area struct {
	name  string
	tests *regexp.Regexp
	// outside is whether the subject is none of those that the server is for.
	outside bool
	// features are the suite's own names for the subject. The suite skips the tests of features that it is told not to test.
	features []string
}

// areas has all subjects. A test belongs to the first whose expression its name matches.
var areas = []area{
	{
		"transactions", regexp.MustCompile(`Transaction`), true,
		[]string{"transactions", "transactionsbulk", "transactionsquery"},
	},
	{
		"eventing", regexp.MustCompile(`Eventing`), true,
		[]string{"eventingmanagement", "scopeeventingmanagement"},
	},
	{"range scan", regexp.MustCompile(`^TestRangeScan`), true, []string{"rangescan"}},
	{
		"users", regexp.MustCompile(`^TestUserManager`), true,
		[]string{"usermanager", "usergroup", "usermanagerchangepassword"},
	},
	{"query indexes", regexp.MustCompile(`QueryIndex`), true, []string{"queryindex"}},
	{"search indexes", regexp.MustCompile(`^Test(Scope)?SearchIndex`), true, nil},

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

// featuresNotTested returns what tells the suite which features it is not to test. Of memcached buckets it then expects that they are
// refused, as it does of a new server.
func featuresNotTested() []string {
	list := []string{"-memcachedbucket"}
	for _, a := range areas {
		for _, f := range a.features {
			list = append(list, "-"+f)
		}
	}
	return list
}
