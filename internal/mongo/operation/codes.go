package operation

import (
	"bytes"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/mongoreason"
)

// The error labels that the rules speak of.
const (
	labelNetworkError       = "NetworkError"
	labelRetryableWrite     = "RetryableWriteError"
	labelNoWritesPerformed  = "NoWritesPerformed"
	labelSystemOverloaded   = "SystemOverloadedError"
	labelRetryable          = "RetryableError"
	codeIllegalOperation    = 20
	labellingWireVersion    = 9 // MongoDB 4.4, the first whose servers add RetryableWriteError themselves
	unsupportedByDeployment = "This MongoDB deployment does not support retryable writes. " +
		"Please add retryWrites=false to your connection string."
)

// reasonOf returns the reason that a server's error code is, retry.ReasonUnknown for a code that is not in the retryable
// reads specification's list as it is published today.
func reasonOf(code int32) retry.Reason {
	switch code {
	case 10107, 13435: // NotWritablePrimary, NotPrimaryNoSecondaryOk
		return mongoreason.NotWritablePrimary
	case 11600, 11602, 13436, 189, 91: // InterruptedAtShutdown, InterruptedDueToReplStateChange,
		// NotPrimaryOrSecondary, PrimarySteppedDown, ShutdownInProgress
		return mongoreason.NodeRecovering
	case 7, 6, 89, 9001, 262, 134: // HostNotFound, HostUnreachable, NetworkTimeout, SocketException,
		// ExceededTimeLimit, ReadConcernMajorityNotAvailableYet
		return mongoreason.RetryableCode
	default:
		return retry.ReasonUnknown
	}
}

// labelledByClient reports whether the client must label an answer with this code RetryableWriteError itself, which it
// does for servers before 4.4 only. 134 is a read's.
func labelledByClient(code int32) bool {
	return code != 134 && reasonOf(code) != retry.ReasonUnknown
}

// hasLabel reports whether an array of labels holds one.
func hasLabel(labels []byte, label string) bool {
	if labels == nil {
		return false
	}
	it := wire.Elements(labels)
	for it.Next() {
		if string(it.Text()) == label {
			return true
		}
	}
	return false
}

func (r *Reply) overloaded() bool {
	return hasLabel(r.Labels, labelSystemOverloaded) && hasLabel(r.Labels, labelRetryable)
}

// retryableWrite reports whether an answer is to be retried as labelled RetryableWriteError, and whether the client has to
// add that label.
func (r *Reply) retryableWrite(s *topology.Server) (bool, bool) {
	switch {
	case hasLabel(r.Labels, labelRetryableWrite):
		return true, false
	case s.MaxWireVersion >= labellingWireVersion:
		return false, false
	case !r.OK && labelledByClient(r.Code), s.Kind != topology.Mongos && labelledByClient(r.writeConcernCode()):
		return true, true
	default:
		return false, false
	}
}

func (r *Reply) noTransactionNumbers() bool {
	return r.Code == codeIllegalOperation && bytes.HasPrefix(r.Message, []byte("Transaction numbers"))
}
