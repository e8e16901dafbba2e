package services

// ErrorKind is the meaning of an error, for the errors that applications compare with.
type ErrorKind uint8

// The kinds.
const (
	KindOther ErrorKind = iota // none of the others
	KindAmbiguousTimeout
	KindUnambiguousTimeout
	KindRequestCancelled
	KindServiceNotAvailable
	KindFeatureNotAvailable
	KindUnsupportedOperation
	KindAuthenticationFailure
	KindInvalidArgument
	KindEncodingFailure
	KindInternalServerFailure
	KindTemporaryFailure
	KindRateLimited
	KindQuotaLimited
	KindParsingFailure
	KindPlanningFailure
	KindCompilationFailure
	KindPreparedStatementFailure
	KindIndexFailure
	KindIndexNotFound
	KindIndexExists
	KindCASMismatch
	KindDocumentNotFound
	KindDocumentExists
	KindJobQueueFull
	KindDatasetNotFound
	KindDatasetExists
	KindDataverseNotFound
	KindDataverseExists
	KindLinkNotFound
	KindViewNotFound
	KindDesignDocumentNotFound
	KindBucketNotFound
	KindBucketExists
	KindBucketNotFlushable
	KindScopeNotFound
	KindScopeExists
	KindCollectionNotFound
	KindCollectionExists
	KindClosed // the client was closed
)

var kindNames = [...]string{
	KindOther:                    "request failed",
	KindAmbiguousTimeout:         "ambiguous timeout",
	KindUnambiguousTimeout:       "unambiguous timeout",
	KindRequestCancelled:         "request cancelled",
	KindServiceNotAvailable:      "service not available",
	KindFeatureNotAvailable:      "feature not available",
	KindUnsupportedOperation:     "unsupported operation",
	KindAuthenticationFailure:    "authentication failure",
	KindInvalidArgument:          "invalid argument",
	KindEncodingFailure:          "encoding failure",
	KindInternalServerFailure:    "internal server failure",
	KindTemporaryFailure:         "temporary failure",
	KindRateLimited:              "rate limited",
	KindQuotaLimited:             "quota limited",
	KindParsingFailure:           "parsing failure",
	KindPlanningFailure:          "planning failure",
	KindCompilationFailure:       "compilation failure",
	KindPreparedStatementFailure: "prepared statement failure",
	KindIndexFailure:             "index failure",
	KindIndexNotFound:            "index not found",
	KindIndexExists:              "index exists",
	KindCASMismatch:              "cas mismatch",
	KindDocumentNotFound:         "document not found",
	KindDocumentExists:           "document exists",
	KindJobQueueFull:             "job queue full",
	KindDatasetNotFound:          "dataset not found",
	KindDatasetExists:            "dataset exists",
	KindDataverseNotFound:        "dataverse not found",
	KindDataverseExists:          "dataverse exists",
	KindLinkNotFound:             "link not found",
	KindViewNotFound:             "view not found",
	KindDesignDocumentNotFound:   "design document not found",
	KindBucketNotFound:           "bucket not found",
	KindBucketExists:             "bucket exists",
	KindBucketNotFlushable:       "bucket not flushable",
	KindScopeNotFound:            "scope not found",
	KindScopeExists:              "scope exists",
	KindCollectionNotFound:       "collection not found",
	KindCollectionExists:         "collection exists",
	KindClosed:                   "client closed",
}

// String returns the kind in words.
func (k ErrorKind) String() string { return kindNames[k] }
