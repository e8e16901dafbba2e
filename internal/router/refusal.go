package router

import (
	"fmt"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// refusal is an error that a client gets as a reply.
type refusal struct {
	code   int32
	name   string // codeName
	text   string
	labels []string
}

func (e *refusal) Error() string { return fmt.Sprintf("(%s) %s", e.name, e.text) }

// The codes of refusals. Their names are those of MongoDB's error_codes.yml.
const (
	codeBadValue             = 2
	codeHostUnreachable      = 6
	codeUnauthorized         = 13
	codeTypeMismatch         = 14
	codeProtocolError        = 17
	codeAuthenticationFailed = 18
	codeCursorNotFound       = 43
	codeMaxTimeMSExpired     = 50
	codeInvalidOptions       = 72
	codeInvalidNamespace     = 73
	codeShutdownInProgress   = 91
	codeFailedToSatisfy      = 133
	codeMaxStalenessOutOf    = 160
	codeAdmissionQueueFull   = 462
	codeNoSuchTransaction    = 251
	codeIDLFailedToParse     = 40414
	codeIDLDuplicateField    = 40413
	codeMechanismUnavailable = 334
	codeUnsupportedOpQuery   = 352
	codeExhaustAtMongos      = 18526
	codeNoDatabase           = 40571
	labelTransient           = "TransientTransactionError"
	labelResumable           = "ResumableChangeStreamError"
	labelRetryableWrite      = "RetryableWriteError"
	labelSystemOverloaded    = "SystemOverloadedError"
	labelRetryable           = "RetryableError"
	labelNoWritesPerformed   = "NoWritesPerformed"
)

func badValue(format string, args ...any) *refusal {
	return &refusal{code: codeBadValue, name: "BadValue", text: fmt.Sprintf(format, args...)}
}

// overloaded refuses an operation of which nothing was done, because the router has too much to do.
func overloaded(cause error) *refusal {
	return &refusal{
		code: codeAdmissionQueueFull, name: "AdmissionQueueOverflow", text: cause.Error(),
		labels: []string{labelSystemOverloaded, labelRetryable, labelNoWritesPerformed},
	}
}

func typeMismatch(format string, args ...any) *refusal {
	return &refusal{code: codeTypeMismatch, name: "TypeMismatch", text: fmt.Sprintf(format, args...)}
}

// append writes the refusal as the document of a reply.
func (e *refusal) append(dst []byte) []byte {
	at, dst := wire.BeginDocument(dst)
	dst = wire.AppendDouble(dst, "ok", 0)
	dst = wire.AppendString(dst, "errmsg", e.text)
	dst = wire.AppendInt32(dst, "code", e.code)
	dst = wire.AppendString(dst, "codeName", e.name)
	if len(e.labels) > 0 {
		dst = wire.AppendStrings(dst, "errorLabels", e.labels)
	}
	return wire.EndDocument(dst, at)
}
