package operation

import "errors"

// The kinds of errors of RFC 0058. [Error] matches one of them, or several, with errors.Is.
var (
	ErrTimeout            = errors.New("operation has timed out")
	ErrAmbiguousTimeout   = errors.New("ambiguous timeout")
	ErrUnambiguousTimeout = errors.New("unambiguous timeout")
	ErrRequestCanceled    = errors.New("request canceled")
	ErrInvalidArgument    = errors.New("invalid argument")
	// ErrServiceNotAvailable: no node offers the service.
	ErrServiceNotAvailable   = errors.New("service not available")
	ErrInternalServerFailure = errors.New("internal server failure")
	ErrAuthenticationFailure = errors.New("authentication failure")
	ErrTemporaryFailure      = errors.New("temporary failure")
	ErrCasMismatch           = errors.New("cas mismatch")
	ErrBucketNotFound        = errors.New("bucket not found")
	ErrCollectionNotFound    = errors.New("collection not found")
	ErrScopeNotFound         = errors.New("scope not found")
	ErrUnsupportedOperation  = errors.New("unsupported operation")
	ErrFeatureNotAvailable   = errors.New("feature is not available")
	// ErrDecodingFailure: an answer, or a part of it, cannot be understood.
	ErrDecodingFailure     = errors.New("decoding failure")
	ErrRateLimitedFailure  = errors.New("rate limited failure")
	ErrQuotaLimitedFailure = errors.New("quota limited failure")

	ErrDocumentNotFound               = errors.New("document not found")
	ErrDocumentLocked                 = errors.New("document locked")
	ErrDocumentNotLocked              = errors.New("document not locked")
	ErrDocumentExists                 = errors.New("document exists")
	ErrDocumentNotStored              = errors.New("document not stored")
	ErrDocumentTooDeep                = errors.New("document too deep")
	ErrDocumentNotJSON                = errors.New("document not json")
	ErrValueTooLarge                  = errors.New("value too large")
	ErrValueTooDeep                   = errors.New("value too deep")
	ErrValueInvalid                   = errors.New("value invalid")
	ErrNumberTooBig                   = errors.New("number too big")
	ErrDeltaInvalid                   = errors.New("delta invalid")
	ErrDurabilityLevelNotAvailable    = errors.New("durability level not available")
	ErrDurabilityImpossible           = errors.New("durability impossible")
	ErrDurabilityAmbiguous            = errors.New("durability ambiguous")
	ErrDurableWriteInProgress         = errors.New("durable write in progress")
	ErrDurableWriteReCommitInProgress = errors.New("durable write recommit in progress")

	ErrPathNotFound                      = errors.New("path not found")
	ErrPathMismatch                      = errors.New("path mismatch")
	ErrPathInvalid                       = errors.New("path invalid")
	ErrPathTooBig                        = errors.New("path too big")
	ErrPathExists                        = errors.New("path exists")
	ErrXattrUnknownMacro                 = errors.New("xattr unknown macro")
	ErrXattrInvalidFlagCombo             = errors.New("xattr invalid flag combination")
	ErrXattrInvalidKeyCombo              = errors.New("xattr invalid key combination")
	ErrXattrUnknownVirtualAttribute      = errors.New("xattr unknown virtual attribute")
	ErrXattrCannotModifyVirtualAttribute = errors.New("xattr cannot modify virtual attribute")
	ErrXattrInvalidOrder                 = errors.New("xattr invalid order")
	ErrDocumentAlreadyAlive              = errors.New("document already alive")

	// ErrNotMyVBucket: the node does not own the vbucket.
	ErrNotMyVBucket = errors.New("the node does not own the vbucket")
	// ErrConfigOnly: the node has cluster maps only.
	ErrConfigOnly = errors.New("the node has cluster maps only")
	// ErrNodeNotAvailable: no node has the vbucket, or the replica.
	ErrNodeNotAvailable = errors.New("no node has the vbucket")
	// ErrSocketNotAvailable: there is no usable connection to the node.
	ErrSocketNotAvailable = errors.New("there is no usable connection to the node")
	ErrCircuitBreakerOpen = errors.New("circuit breaker open")
	ErrOverload           = errors.New("queue overflowed")
	ErrShutdown           = errors.New("cluster closed")
	// ErrBucketNotOpen: the bucket has no cluster map yet.
	ErrBucketNotOpen = errors.New("the bucket is not open yet")
)

// ErrValueNotJSON matches ErrDocumentNotJSON too.
var ErrValueNotJSON error = valueNotJSON{}

// valueNotJSON is the error of a sub-document operation on a document that is not JSON. gocb has two sentinels for it, and its errors
// match this one.
type valueNotJSON struct{}

func (valueNotJSON) Error() string { return "value not json" }

// Is makes the error match the other sentinel too.
func (valueNotJSON) Is(target error) bool { return target == ErrDocumentNotJSON }
