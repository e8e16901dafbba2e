package operation

import (
	"errors"
	"strings"

	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/mongoreason"
)

// The error labels of the Transactions specification.
const (
	LabelTransientTransaction = "TransientTransactionError"
	LabelUnknownCommit        = "UnknownTransactionCommitResult"
)

// The error labels, codes and texts of the retry rules.
const (
	labelNetworkError       = "NetworkError"
	labelRetryableWrite     = "RetryableWriteError"
	labelNoWritesPerformed  = "NoWritesPerformed"
	labelSystemOverloaded   = "SystemOverloadedError"
	labelRetryable          = "RetryableError"
	codeIllegalOperation    = 20
	labellingWireVersion    = 9 // MongoDB 4.4: since then the servers add RetryableWriteError
	unsupportedByDeployment = "This MongoDB deployment does not support retryable writes. " +
		"Please add retryWrites=false to your connection string."
)

// reasonOf returns the retry reason of a server's error code. It is retry.ReasonUnknown for a code that is not in the
// list of the Retryable Reads specification.
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

// RetryableRead reports whether an error is one after which a read is retried: a network error, or one of the codes of the
// Retryable Reads specification.
func RetryableRead(err error) bool {
	var e official.CommandError
	return errors.As(err, &e) && (e.HasErrorLabel(labelNetworkError) || reasonOf(e.Code) != retry.ReasonUnknown)
}

// RetryableOverload reports whether a server refused a command because it is overloaded, and the command can be sent again (Client
// Backpressure, "Retryable Overload Error").
func RetryableOverload(err error) bool {
	var e official.CommandError
	return errors.As(err, &e) && e.HasErrorLabel(labelSystemOverloaded) && e.HasErrorLabel(labelRetryable)
}

// labelledByClient reports whether the client adds RetryableWriteError to an error with this code, for servers before
// 4.4. 134 is retryable for reads only.
func labelledByClient(code int32) bool {
	return code != 134 && reasonOf(code) != retry.ReasonUnknown
}

// hasLabel reports whether an array of labels, which may be nil, contains label.
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

// gaveUp reports whether the server may have ended the command in the middle: it was interrupted, or stepped down. The codes are those of its
// category Interruption, and PrimarySteppedDown. A member that is no primary when a command begins says NotWritablePrimary.
func (r *Reply) gaveUp() bool {
	switch r.Code {
	case 50, 189, 262, 279, 11600, 11601, 11602, 46841: // MaxTimeMSExpired, PrimarySteppedDown, ExceededTimeLimit, ClientDisconnect,
		// InterruptedAtShutdown, Interrupted, InterruptedDueToReplStateChange, ClientMarkedKilled
		return !hasLabel(r.Labels, labelNoWritesPerformed)
	}
	return false
}

// retryableWrite reports whether a reply has the label RetryableWriteError or must get it, and whether the client
// must add it.
func (r *Reply) retryableWrite(s *topology.Server) (bool, bool) {
	switch {
	case hasLabel(r.Labels, labelRetryableWrite):
		return true, false
	case s.MaxWireVersion >= labellingWireVersion:
		return false, false
	case !r.OK && labelledByClient(r.Code), s.Type != topology.Mongos && labelledByClient(r.writeConcernCode()):
		return true, true
	default:
		return false, false
	}
}

// unanswered reports whether a mongos says that it has had no reply of a member: the member may have done the command, or may do it later. The
// codes are those of a network between them that fails, and of a mongos that waits no longer.
func (r *Reply) unanswered(s *topology.Server) bool {
	if s.Type != topology.Mongos {
		return false
	}
	switch r.Code {
	case 6, 7, 89, 9001, 50, 262, 11600: // HostUnreachable, HostNotFound, NetworkTimeout, SocketException, MaxTimeMSExpired, ExceededTimeLimit,
		// InterruptedAtShutdown
		return !hasLabel(r.Labels, labelNoWritesPerformed)
	}
	return false
}

func (r *Reply) noTransactionNumbers() bool {
	return noTransactionNumbers(int(r.Code), string(r.Message))
}

func noTransactionNumbers(code int, message string) bool {
	return code == codeIllegalOperation && strings.HasPrefix(message, "Transaction numbers")
}

// WriteErrorText returns the message of a write error or a write concern error: the server's own, or the text that Retryable Writes demands
// for a deployment without transaction numbers.
func WriteErrorText(code int, message string) string {
	if noTransactionNumbers(code, message) {
		return unsupportedByDeployment
	}
	return message
}
