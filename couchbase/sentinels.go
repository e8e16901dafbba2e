package couchbase

import (
	"errors"
	"fmt"

	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
)

// Errors of every service (RFC 0058).
var (
	// ErrTimeout matches both kinds of timeouts.
	ErrTimeout = operation.ErrTimeout
	// ErrRequestCanceled is the error of an operation that was cancelled by its context, or that lost its connection after it was
	// sent and may not be sent again.
	ErrRequestCanceled = operation.ErrRequestCanceled
	// ErrInvalidArgument matches the errors about arguments and options. They are found before any use of the network.
	ErrInvalidArgument = operation.ErrInvalidArgument
	// ErrServiceNotAvailable means that no node of the cluster offers the service.
	ErrServiceNotAvailable = operation.ErrServiceNotAvailable
	// ErrInternalServerFailure means that the server reported an error of its own.
	ErrInternalServerFailure = operation.ErrInternalServerFailure
	// ErrAuthenticationFailure means that the server refused the credentials, or that they permit no access to the bucket.
	ErrAuthenticationFailure = operation.ErrAuthenticationFailure
	// ErrTemporaryFailure means that the server cannot serve the operation at the moment. It was not applied.
	ErrTemporaryFailure = operation.ErrTemporaryFailure
	// ErrParsingFailure means that the server could not parse the statement.
	ErrParsingFailure = errors.New("parsing failure")
	// ErrCasMismatch means that the document has another CAS than the operation asked for.
	ErrCasMismatch = operation.ErrCasMismatch
	// ErrBucketNotFound means that there is no such bucket.
	ErrBucketNotFound = operation.ErrBucketNotFound
	// ErrCollectionNotFound means that there is no such collection.
	ErrCollectionNotFound = operation.ErrCollectionNotFound
	// ErrEncodingFailure means that a value could not be encoded. Nothing was sent.
	ErrEncodingFailure = errors.New("encoding failure")
	// ErrDecodingFailure means that a value could not be decoded.
	ErrDecodingFailure = operation.ErrDecodingFailure
	// ErrUnsupportedOperation means that the server does not know or support the operation.
	ErrUnsupportedOperation = operation.ErrUnsupportedOperation
	// ErrAmbiguousTimeout is a timeout of an operation that may have been applied.
	ErrAmbiguousTimeout = fmt.Errorf("ambiguous timeout%w", silent{ErrTimeout})
	// ErrUnambiguousTimeout is a timeout of an operation that was not applied, or that does no harm if it is done again.
	ErrUnambiguousTimeout = fmt.Errorf("unambiguous timeout%w", silent{ErrTimeout})
	// ErrFeatureNotAvailable means that the bucket or the server has no such feature.
	ErrFeatureNotAvailable = operation.ErrFeatureNotAvailable
	// ErrScopeNotFound means that there is no such scope.
	ErrScopeNotFound = operation.ErrScopeNotFound
	// ErrIndexNotFound means that there is no such index.
	ErrIndexNotFound = errors.New("index not found")
	// ErrIndexExists means that there is an index of that name.
	ErrIndexExists = errors.New("index exists")
	// ErrRateLimitedFailure means that this user sends too much. The operation was not applied, and it is not retried.
	ErrRateLimitedFailure = operation.ErrRateLimitedFailure
	// ErrQuotaLimitedFailure means that the operation would pass a limit of size.
	ErrQuotaLimitedFailure = operation.ErrQuotaLimitedFailure
)

// silent is an error that errors.Is finds and that adds nothing to the text.
type silent struct{ error }

func (silent) Error() string   { return "" }
func (s silent) Unwrap() error { return s.error }

// Errors of key-value operations (RFC 0058).
var (
	// ErrDocumentNotFound means that there is no such document.
	ErrDocumentNotFound = operation.ErrDocumentNotFound
	// ErrDocumentUnretrievable means that no replica has the document.
	ErrDocumentUnretrievable = errors.New("document unretrievable")
	// ErrDocumentLocked means that the document is locked.
	ErrDocumentLocked = operation.ErrDocumentLocked
	// ErrValueTooLarge means that the document is larger than the server permits.
	ErrValueTooLarge = operation.ErrValueTooLarge
	// ErrDocumentExists means that there is a document with that id.
	ErrDocumentExists = operation.ErrDocumentExists
	// ErrValueNotJSON means that the document of a sub-document operation is not JSON. It matches ErrDocumentNotJSON too.
	ErrValueNotJSON = operation.ErrValueNotJSON
	// ErrDurabilityLevelNotAvailable means that the server does not know the level of durability.
	ErrDurabilityLevelNotAvailable = operation.ErrDurabilityLevelNotAvailable
	// ErrDurabilityImpossible means that the bucket has too few live replicas. The write was not applied.
	ErrDurabilityImpossible = operation.ErrDurabilityImpossible
	// ErrDurabilityAmbiguous means that it is not known whether a durable write was applied.
	ErrDurabilityAmbiguous = operation.ErrDurabilityAmbiguous
	// ErrDurableWriteInProgress means that a durable write of the document is under way.
	ErrDurableWriteInProgress = operation.ErrDurableWriteInProgress
	// ErrDurableWriteReCommitInProgress means that a durable write of the document is being committed again.
	ErrDurableWriteReCommitInProgress = operation.ErrDurableWriteReCommitInProgress
	// ErrMutationLost means that a write was lost by a failover.
	ErrMutationLost = errors.New("mutation lost")
	// ErrPathNotFound means that the document has nothing at the path.
	ErrPathNotFound = operation.ErrPathNotFound
	// ErrPathMismatch means that the path does not suit the document's structure, for example a field of an array.
	ErrPathMismatch = operation.ErrPathMismatch
	// ErrPathInvalid means that the path cannot be parsed.
	ErrPathInvalid = operation.ErrPathInvalid
	// ErrPathTooBig means that the path is too long or has too many components.
	ErrPathTooBig = operation.ErrPathTooBig
	// ErrPathTooDeep means that the operation would nest the document too deeply.
	ErrPathTooDeep = errors.New("path too deep")
	// ErrValueTooDeep means that the value is nested too deeply.
	ErrValueTooDeep = operation.ErrValueTooDeep
	// ErrValueInvalid means that the value cannot be inserted at the path.
	ErrValueInvalid = operation.ErrValueInvalid
	// ErrDocumentNotJSON means that the document is not JSON.
	ErrDocumentNotJSON = operation.ErrDocumentNotJSON
	// ErrNumberTooBig means that the number at the path is out of range.
	ErrNumberTooBig = operation.ErrNumberTooBig
	// ErrDeltaInvalid means that the delta is 0, or that the result would be out of range.
	ErrDeltaInvalid = operation.ErrDeltaInvalid
	// ErrPathExists means that the document has something at the path already.
	ErrPathExists = operation.ErrPathExists
	// ErrXattrUnknownMacro means that the server does not know the macro.
	ErrXattrUnknownMacro = operation.ErrXattrUnknownMacro
	// ErrXattrInvalidFlagCombo means that flags of an extended attribute exclude each other.
	ErrXattrInvalidFlagCombo = operation.ErrXattrInvalidFlagCombo
	// ErrXattrInvalidKeyCombo means that the request names more extended attributes than the server permits.
	ErrXattrInvalidKeyCombo = operation.ErrXattrInvalidKeyCombo
	// ErrXattrUnknownVirtualAttribute means that the server does not know the virtual attribute.
	ErrXattrUnknownVirtualAttribute = operation.ErrXattrUnknownVirtualAttribute
	// ErrXattrCannotModifyVirtualAttribute means that a virtual attribute would be changed.
	ErrXattrCannotModifyVirtualAttribute = operation.ErrXattrCannotModifyVirtualAttribute
	// ErrXattrInvalidOrder means that extended attributes do not stand first.
	ErrXattrInvalidOrder = operation.ErrXattrInvalidOrder
	// ErrDocumentNotLocked means that an unlocked document was to be unlocked.
	ErrDocumentNotLocked = operation.ErrDocumentNotLocked
	// ErrDocumentTooDeep means that the document is nested too deeply for sub-document operations.
	ErrDocumentTooDeep = operation.ErrDocumentTooDeep
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
	ErrOverload = operation.ErrOverload
	// ErrNoResult means that there is no row.
	ErrNoResult = errors.New("no result was available")
	// ErrCircuitBreakerOpen means that the breaker of the node is open.
	ErrCircuitBreakerOpen = operation.ErrCircuitBreakerOpen
	// ErrShutdown is the error of every operation after [Cluster.Close].
	ErrShutdown = operation.ErrShutdown
)
