package decisions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"syscall"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/interop/internal/officialtypes"
)

var values = []struct {
	name string
	err  error
}{
	{"ErrNilDocument", mongo.ErrNilDocument},
	{"ErrNilValue", mongo.ErrNilValue},
	{"ErrEmptySlice", mongo.ErrEmptySlice},
	{"ErrNoDocuments", mongo.ErrNoDocuments},
	{"ErrClientDisconnected", mongo.ErrClientDisconnected},
	{"context.Canceled", context.Canceled},
	{"context.DeadlineExceeded", context.DeadlineExceeded},
	{"io.EOF", io.EOF},
	{"io.ErrUnexpectedEOF", io.ErrUnexpectedEOF},
	{"net.ErrClosed", net.ErrClosed},
	{"os.ErrDeadlineExceeded", os.ErrDeadlineExceeded},
	{"ECONNREFUSED", syscall.ECONNREFUSED},
	{"ECONNRESET", syscall.ECONNRESET},
}

var labels = []string{
	"NetworkError", "RetryableWriteError", "TransientTransactionError", "UnknownTransactionCommitResult", "NoWritesPerformed",
	"SystemOverloadedError", "RetryableError",
}

// decide returns what a program decides by an error.
func decide(err error) []string {
	if err == nil {
		return []string{"an error: false"}
	}
	lines := []string{"an error: true", "a switch: " + kindOf(err), "compared with itself: " + compared(err)}
	for _, v := range values {
		lines = append(lines, fmt.Sprintf("== %s: %t", v.name, err == v.err)) //nolint:errorlint // programs do
		lines = append(lines, fmt.Sprintf("errors.Is %s: %t", v.name, errors.Is(err, v.err)))
	}
	lines = append(lines, asserted[mongo.CommandError](err), asserted[mongo.WriteException](err), asserted[mongo.BulkWriteException](err),
		asserted[mongo.ClientBulkWriteException](err), asserted[mongo.MarshalError](err), asserted[mongo.InvalidArgumentError](err),
		asserted[mongo.WriteConcernError](err), asserted[mongo.WriteErrors](err), asserted[mongo.LabeledError](err), asserted[mongo.ServerError](err),
		asserted[net.Error](err), asserted[*mongo.CommandError](err), asserted[*mongo.WriteException](err))
	lines = append(lines, fmt.Sprint("IsTimeout: ", mongo.IsTimeout(err)), fmt.Sprint("IsNetworkError: ", mongo.IsNetworkError(err)),
		fmt.Sprint("IsDuplicateKeyError: ", mongo.IsDuplicateKeyError(err)), fmt.Sprint("ErrorCodes: ", mongo.ErrorCodes(err)))
	for _, label := range labels {
		var labeled mongo.LabeledError
		lines = append(lines, fmt.Sprintf("label %s: %t", label, errors.As(err, &labeled) && labeled.HasErrorLabel(label)))
	}
	for _, line := range officialtypes.Decisions(err) {
		lines = append(lines, "a library, "+line)
	}
	return lines
}

func kindOf(err error) string {
	switch e := err.(type) { //nolint:errorlint // the program of the test
	case mongo.CommandError:
		return fmt.Sprint("a command error ", e.Code, each(e.Labels))
	case mongo.WriteException:
		return fmt.Sprint("a write exception ", e.ErrorCodes(), each(e.Labels), e.WriteConcernError != nil, len(e.Raw) > 0)
	case mongo.BulkWriteException:
		return fmt.Sprint("a bulk write exception ", e.ErrorCodes(), each(e.Labels), e.WriteConcernError != nil)
	case mongo.ClientBulkWriteException:
		return fmt.Sprint("a client bulk write exception ", e.ErrorCodes(), e.WriteError != nil, e.PartialResult != nil)
	case mongo.ServerError:
		return "another server error"
	}
	return "another error"
}

func each(labels []string) []string { return slices.Compact(slices.Sorted(slices.Values(labels))) }

func asserted[E error](err error) string {
	e, is := err.(E) //nolint:errorlint // the program of the test
	var found E
	return fmt.Sprintf("%T: asserted %t, found %t", &e, is, errors.As(err, &found))
}

func compared(err error) (result string) {
	defer func() {
		if recover() != nil {
			result = "it panics"
		}
	}()
	other := err
	return fmt.Sprint(err == other) //nolint:errorlint // the program of the test
}
