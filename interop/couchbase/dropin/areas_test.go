package dropin

import "regexp"

// areas are the parts of the API by the names that stand at the beginning: the first row that matches holds.
var areas = []struct {
	name     string
	matching *regexp.Regexp
}{
	{"errors", regexp.MustCompile(`^(Err[A-Z]|KeyValueError|TimeoutError|GenericError)`)},
	{"retries", regexp.MustCompile(`(Retry|BackoffCalculator)`)},
	{"observability", regexp.MustCompile(`^(Threshold|Orphan|AppTelemetry|\w*Meter\w*|\w*Tracer|Request(Span|Tracer)\w*|Counter\.|Counter$|ValueRecorder|\w*Log(ger|Level|RedactLevel)|Log|Redact|Otel|ErrorLog)`)},
	{"management", regexp.MustCompile(
		`^(\w*Bucket(Type|Settings|Manager|Options|s)|\w*(Scope|Collection)(Options|Settings|Spec|Manager|ManagerV2)|GetAllScopes\w*|CollectionHistory\w*|` +
			`\w*(Index|Indexes)(Manager|Options|es)?|\w*QueryIndex\w*|\w*SearchIndex\w*|\w*(Dataset|Dataverse|AnalyticsLink|AnalyticsIndex|AnalyticsLinks)\w*|` +
			`\w*DesignDocument\w*|View$|View\.|CompressionMode|ConflictResolution|EvictionPolicy|StorageBackend|HistoryRetention|AnalyticsEncryption|` +
			`CouchbaseRemote|GetPendingMutations|\w*BucketOptions|AnalyzeDocument|GetNodesMetadata|NodeMetadata|HTTPError|Internal(Bucket|Cluster)|Capability|GetIndexed)`)},
	{"query", regexp.MustCompile(`^(\w*Query)`)},
	{"analytics", regexp.MustCompile(`^Analytics`)},
	{"search", regexp.MustCompile(`^(Search|DefaultHighlight|HTMLHighlight|AnsiHight)`)},
	{"views", regexp.MustCompile(`^View`)},
	{"diagnostics", regexp.MustCompile(`^(Ping|Diagnostics|End[Pp]oint|WaitUntilReady|ClusterState)`)},
	{"sub-document", regexp.MustCompile(`^(LookupIn|MutateIn|\w*Spec(Options)?$|\w*SpecOptions\.|Subdoc|MutationMacro|StoreSemantics)`)},
	{"connecting", regexp.MustCompile(
		`^(Cluster|Connect|Auth|\w*Authenticator|Certificate|UserPassPair|TimeoutsConfig|SecurityConfig|IoConfig|CompressionConfig|InternalConfig|` +
			`CircuitBreaker|\w*Sasl|ServiceType|Identifier|Version)`)},
	{"key-value", regexp.MustCompile(`.`)},
}
