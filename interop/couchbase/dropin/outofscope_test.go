package dropin

import "regexp"

// outOfScope has the names of what the client does not do, by the kind of thing.
var outOfScope = []struct {
	reason   string
	matching *regexp.Regexp
}{
	{"transactions", regexp.MustCompile(
		`(^|\.|^New|^Internal)Transaction|^(New)?LostTransactions|^SingleQueryTransaction|^QueryOptions\.AsTransaction$|^AttemptFunc$|` +
			`^Err(Transaction\w+|Attempt\w+|DocAlreadyInTransaction|Other|Transient|WriteWriteConflict|Hard|Ambiguous|Atr\w+|` +
			`PreviousOperationFailed|ForwardCompatibilityFailure|IllegalState|CommitNotPermitted|RollbackNotPermitted|ConcurrentOperations\w+)$`)},
	{"range scan", regexp.MustCompile(`^(Collection\.Scan$|ScanOptions|ScanResult|ScanTerm|ScanType|RangeScan|SamplingScan|NewRangeScan|ErrMutationTokenOutdated$)`)},
	{"eventing", regexp.MustCompile(`Eventing`)},
	{"users", regexp.MustCompile(
		`^(Cluster\.Users$|UserManager|User$|User\.|UserAndMetadata|Group$|Group\.|Role|Origin|AuthDomain|LocalDomain|ExternalDomain|ChangePassword|` +
			`GetRolesOptions|Err(User|Group)\w+$|(Get|GetAll|Drop|Upsert)(User|Group)s?Options)`)},
	{"writing query indexes", regexp.MustCompile(
		`^((Collection)?QueryIndexManager\.(Create|Drop|Build)|(BuildDeferred|Create|CreatePrimary|Drop|DropPrimary)QueryIndexOptions)`)},
	{"writing search indexes", regexp.MustCompile(
		`^((Scope)?SearchIndexManager\.(AllowQuerying|AnalyzeDocument|DisallowQuerying|DropIndex|FreezePlan|PauseIngest|ResumeIngest|UnfreezePlan|UpsertIndex)$|` +
			`(AllowQuerying|DisallowQuerying|Drop|FreezePlan|PauseIngest|ResumeIngest|UnfreezePlan|Upsert)SearchIndexOptions|AnalyzeDocumentOptions)`)},
	{"writing analytics indexes", regexp.MustCompile(
		`^(AnalyticsIndexManager\.(Connect|Create|Disconnect|Drop|Replace)|(Connect|Create|Disconnect|Drop|Replace)Analytics\w+Options|` +
			`New(S3External|AzureBlobExternal|CouchbaseRemote)AnalyticsLink|Err(Dataset|Dataverse|AnalyticsLink)Exists$)`)},
	{"writing view indexes", regexp.MustCompile(`^(ViewIndexManager\.(Drop|Publish|Upsert)|(Drop|Publish|Upsert)DesignDocumentOptions)`)},
}
