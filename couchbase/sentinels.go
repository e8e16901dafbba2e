package couchbase

import (
	"errors"
	"fmt"
)

// Errors of every service (RFC 0058).
var (
	// ErrTimeout matches both kinds of timeouts.
	ErrTimeout = errors.New("operation has timed out")
	// ErrRequestCanceled is the error of an operation that was cancelled by its context, or that lost its connection after it was
	// sent and may not be sent again.
	ErrRequestCanceled = errors.New("request canceled")
	// ErrInvalidArgument matches the errors about arguments and options. They are found before any use of the network.
	ErrInvalidArgument = errors.New("invalid argument")
	// ErrServiceNotAvailable means that no node of the cluster offers the service.
	ErrServiceNotAvailable = errors.New("service not available")
	// ErrInternalServerFailure means that the server reported an error of its own.
	ErrInternalServerFailure = errors.New("internal server failure")
	// ErrAuthenticationFailure means that the server refused the credentials, or that they permit no access to the bucket.
	ErrAuthenticationFailure = errors.New(
		"authentication failure - possible reasons - incorrect authentication configuration, bucket doesn’t exist or bucket may be hibernated")
	// ErrTemporaryFailure means that the server cannot serve the operation at the moment. It was not applied.
	ErrTemporaryFailure = errors.New("temporary failure")
	// ErrParsingFailure means that the server could not parse the statement.
	ErrParsingFailure = errors.New("parsing failure")
	// ErrCasMismatch means that the document has another CAS than the operation asked for.
	ErrCasMismatch = errors.New("cas mismatch")
	// ErrBucketNotFound means that there is no such bucket.
	ErrBucketNotFound = errors.New("bucket not found")
	// ErrCollectionNotFound means that there is no such collection.
	ErrCollectionNotFound = errors.New("collection not found")
	// ErrEncodingFailure means that a value could not be encoded. Nothing was sent.
	ErrEncodingFailure = errors.New("encoding failure")
	// ErrDecodingFailure means that a value could not be decoded.
	ErrDecodingFailure = errors.New("decoding failure")
	// ErrUnsupportedOperation means that the server does not know or support the operation.
	ErrUnsupportedOperation = errors.New("unsupported operation")
	// ErrAmbiguousTimeout is a timeout of an operation that may have been applied.
	ErrAmbiguousTimeout = fmt.Errorf("ambiguous timeout%w", silent{ErrTimeout})
	// ErrUnambiguousTimeout is a timeout of an operation that was not applied, or that does no harm if it is done again.
	ErrUnambiguousTimeout = fmt.Errorf("unambiguous timeout%w", silent{ErrTimeout})
	// ErrFeatureNotAvailable means that the bucket or the server has no such feature.
	ErrFeatureNotAvailable = errors.New("feature is not available")
	// ErrScopeNotFound means that there is no such scope.
	ErrScopeNotFound = errors.New("scope not found")
	// ErrIndexNotFound means that there is no such index.
	ErrIndexNotFound = errors.New("index not found")
	// ErrIndexExists means that there is an index of that name.
	ErrIndexExists = errors.New("index exists")
	// ErrRateLimitedFailure means that this user sends too much. The operation was not applied, and it is not retried.
	ErrRateLimitedFailure = errors.New("rate limited failure")
	// ErrQuotaLimitedFailure means that the operation would pass a limit of size.
	ErrQuotaLimitedFailure = errors.New("quota limited failure")
)

// silent is an error that errors.Is finds and that adds nothing to the text.
type silent struct{ error }

func (silent) Error() string   { return "" }
func (s silent) Unwrap() error { return s.error }

// Errors of key-value operations (RFC 0058).
var (
	// ErrDocumentNotFound means that there is no such document.
	ErrDocumentNotFound = errors.New("document not found")
	// ErrDocumentUnretrievable means that no replica has the document.
	ErrDocumentUnretrievable = errors.New("document unretrievable")
	// ErrDocumentLocked means that the document is locked.
	ErrDocumentLocked = errors.New("document locked")
	// ErrValueTooLarge means that the document is larger than the server permits.
	ErrValueTooLarge = errors.New("value too large")
	// ErrDocumentExists means that there is a document with that id.
	ErrDocumentExists = errors.New("document exists")
	// ErrValueNotJSON means that a value of a sub-document operation is not JSON.
	ErrValueNotJSON = errors.New("value not json")
	// ErrDurabilityLevelNotAvailable means that the server does not know the level of durability.
	ErrDurabilityLevelNotAvailable = errors.New("durability level not available")
	// ErrDurabilityImpossible means that the bucket has too few live replicas. The write was not applied.
	ErrDurabilityImpossible = errors.New("durability impossible")
	// ErrDurabilityAmbiguous means that it is not known whether a durable write was applied.
	ErrDurabilityAmbiguous = errors.New("durability ambiguous")
	// ErrDurableWriteInProgress means that a durable write of the document is under way.
	ErrDurableWriteInProgress = errors.New("durable write in progress")
	// ErrDurableWriteReCommitInProgress means that a durable write of the document is being committed again.
	ErrDurableWriteReCommitInProgress = errors.New("durable write recommit in progress")
	// ErrMutationLost means that a write was lost by a failover.
	ErrMutationLost = errors.New("mutation lost")
	// ErrPathNotFound means that the document has nothing at the path.
	ErrPathNotFound = errors.New("path not found")
	// ErrPathMismatch means that the path does not suit the document's structure, for example a field of an array.
	ErrPathMismatch = errors.New("path mismatch")
	// ErrPathInvalid means that the path cannot be parsed.
	ErrPathInvalid = errors.New("path invalid")
	// ErrPathTooBig means that the path is too long or has too many components.
	ErrPathTooBig = errors.New("path too big")
	// ErrPathTooDeep means that the operation would nest the document too deeply.
	ErrPathTooDeep = errors.New("path too deep")
	// ErrValueTooDeep means that the value is nested too deeply.
	ErrValueTooDeep = errors.New("value too deep")
	// ErrValueInvalid means that the value cannot be inserted at the path.
	ErrValueInvalid = errors.New("value invalid")
	// ErrDocumentNotJSON means that the document is not JSON.
	ErrDocumentNotJSON = errors.New("document not json")
	// ErrNumberTooBig means that the number at the path is out of range.
	ErrNumberTooBig = errors.New("number too big")
	// ErrDeltaInvalid means that the delta is 0, or that the result would be out of range.
	ErrDeltaInvalid = errors.New("delta invalid")
	// ErrPathExists means that the document has something at the path already.
	ErrPathExists = errors.New("path exists")
	// ErrXattrUnknownMacro means that the server does not know the macro.
	ErrXattrUnknownMacro = errors.New("xattr unknown macro")
	// ErrXattrInvalidFlagCombo means that flags of an extended attribute exclude each other.
	ErrXattrInvalidFlagCombo = errors.New("xattr invalid flag combination")
	// ErrXattrInvalidKeyCombo means that the request names more extended attributes than the server permits.
	ErrXattrInvalidKeyCombo = errors.New("xattr invalid key combination")
	// ErrXattrUnknownVirtualAttribute means that the server does not know the virtual attribute.
	ErrXattrUnknownVirtualAttribute = errors.New("xattr unknown virtual attribute")
	// ErrXattrCannotModifyVirtualAttribute means that a virtual attribute would be changed.
	ErrXattrCannotModifyVirtualAttribute = errors.New("xattr cannot modify virtual attribute")
	// ErrXattrInvalidOrder means that extended attributes do not stand first.
	ErrXattrInvalidOrder = errors.New("xattr invalid order")
	// ErrDocumentNotLocked means that an unlocked document was to be unlocked.
	ErrDocumentNotLocked = errors.New("document not locked")
	// ErrDocumentTooDeep means that the document is nested too deeply for sub-document operations.
	ErrDocumentTooDeep = errors.New("document too deep")
)

// Errors of queries, analytics and views (RFC 0058).
var (
	// ErrPlanningFailure means that the query service could not plan the statement.
	ErrPlanningFailure = errors.New("planning failure")
	// ErrIndexFailure means that an index could not be used.
	ErrIndexFailure = errors.New("index failure")
	// ErrPreparedStatementFailure means that a prepared statement could not be used.
	ErrPreparedStatementFailure = errors.New("prepared statement failure")
	// ErrCompilationFailure means that the analytics service could not compile the statement.
	ErrCompilationFailure = errors.New("compilation failure")
	// ErrJobQueueFull means that the analytics service has too many jobs.
	ErrJobQueueFull = errors.New("job queue full")
	// ErrDatasetNotFound means that there is no such dataset.
	ErrDatasetNotFound = errors.New("dataset not found")
	// ErrDataverseNotFound means that there is no such dataverse.
	ErrDataverseNotFound = errors.New("dataverse not found")
	// ErrLinkNotFound means that there is no such link.
	ErrLinkNotFound = errors.New("link not found")
	// ErrViewNotFound means that there is no such view.
	ErrViewNotFound = errors.New("view not found")
	// ErrDesignDocumentNotFound means that there is no such design document.
	ErrDesignDocumentNotFound = errors.New("design document not found")
)

// Errors of the management of buckets and collections (RFC 0058).
var (
	// ErrCollectionExists means that there is a collection of that name.
	ErrCollectionExists = errors.New("collection exists")
	// ErrScopeExists means that there is a scope of that name.
	ErrScopeExists = errors.New("scope exists")
	// ErrBucketExists means that there is a bucket of that name.
	ErrBucketExists = errors.New("bucket exists")
	// ErrBucketNotFlushable means that the settings of the bucket forbid flushing it.
	ErrBucketNotFlushable = errors.New("bucket not flushable")
)

// Errors of the client itself.
var (
	// ErrOverload means that too many operations wait for a connection.
	ErrOverload = errors.New("queue overflowed")
	// ErrNoResult means that there is no row.
	ErrNoResult = errors.New("no result was available")
	// ErrCircuitBreakerOpen means that the breaker of the node is open.
	ErrCircuitBreakerOpen = errors.New("circuit breaker open")
	// ErrShutdown is the error of every operation after [Cluster.Close].
	ErrShutdown = errors.New("cluster closed")
)
