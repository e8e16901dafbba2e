package call

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// appendLabels writes the error labels of a reply that succeeded but for its write concern.
func appendLabels(x *Call, point PointAction) {
	code := int32(0)
	if x.Result.ConcernError != nil {
		code = x.Result.ConcernError.Code
	}
	if point.writeConcernError != nil {
		n, _ := query.Lookup(point.writeConcernError, "code").Integer()
		code = int32(n)
	}
	labels := point.labels
	if labels == nil && repeatable(x, code) {
		labels = []string{"RetryableWriteError"}
	}
	writeLabels(x, labels)
}

func writeLabels(x *Call, labels []string) {
	if len(labels) > 0 {
		x.Result.Out = wire.AppendStrings(x.Result.Out, "errorLabels", labels)
	}
}

// labelsOf returns the labels that the error of a command deserves.
func labelsOf(x *Call, code int32) []string {
	switch {
	case x.InTransaction() && (mongoerr.Is(code, mongoerr.Transient) || !ends(x) && mongoerr.Is(code, mongoerr.RetryableWrite)):
		return []string{"TransientTransactionError"}
	case repeatable(x, code), x.Result.ConcernError != nil && repeatable(x, x.Result.ConcernError.Code):
		return []string{"RetryableWriteError"}
	case code == mongoerr.ChangeStreamFatalError || code == mongoerr.ChangeStreamHistoryLost:
		if x.Client.Set.Version.AtLeast(4, 2) {
			return []string{"NonResumableChangeStreamError"}
		}
	case x.Client.Set.Version.LabelsErrors() && watching(x) && mongoerr.Is(code, mongoerr.Resumable|mongoerr.RetryableWrite):
		return []string{"ResumableChangeStreamError"}
	}
	return nil
}

// ends reports whether the command ends a transaction. A command that the server does not know has no spec.
func ends(x *Call) bool { return x.Command.Spec != nil && x.Command.Spec.Ends }

// repeatable reports whether the command is worth being repeated after an error: a retryable write, or the end of a transaction.
// A mongos does not say so of its own.
func repeatable(x *Call, code int32) bool {
	return x.Client.Router == nil && x.Command.HasTxn && (!x.InTransaction() || ends(x)) && mongoerr.Is(code, mongoerr.RetryableWrite) &&
		x.Client.Set.Version.LabelsErrors()
}
