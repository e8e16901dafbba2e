package situations

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// sentinels are the errors that a program compares with errors.Is.
var sentinels = []struct {
	name string
	err  error
}{
	{"ErrNilDocument", mongo.ErrNilDocument},
	{"ErrNilValue", mongo.ErrNilValue},
	{"ErrEmptySlice", mongo.ErrEmptySlice},
	{"ErrNotSlice", mongo.ErrNotSlice},
	{"ErrNoDocuments", mongo.ErrNoDocuments},
	{"ErrClientDisconnected", mongo.ErrClientDisconnected},
	{"ErrInvalidIndexValue", mongo.ErrInvalidIndexValue},
	{"ErrNonStringIndexName", mongo.ErrNonStringIndexName}, //nolint:staticcheck // programs still compare with it
	{"ErrMultipleIndexDrop", mongo.ErrMultipleIndexDrop},
	{"ErrMissingResumeToken", mongo.ErrMissingResumeToken},
	{"ErrWrongClient", mongo.ErrWrongClient},
	{"ErrFileNotFound", mongo.ErrFileNotFound},
	{"ErrMissingChunk", mongo.ErrMissingChunk},
	{"ErrStreamClosed", mongo.ErrStreamClosed},
	{"ErrWrongSize", mongo.ErrWrongSize},
	{"context.Canceled", context.Canceled},
	{"context.DeadlineExceeded", context.DeadlineExceeded},
	{"io.EOF", io.EOF},
}

// describe returns all that a program can learn from an error, without its text.
func describe(err error) string {
	if err == nil {
		return "none"
	}
	parts := []string{kind(err)}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			parts = append(parts, "is "+s.name)
		}
	}
	for _, f := range []struct {
		name string
		is   func(error) bool
	}{
		{"IsTimeout", mongo.IsTimeout}, {"IsNetworkError", mongo.IsNetworkError}, {"IsDuplicateKeyError", mongo.IsDuplicateKeyError},
	} {
		if f.is(err) {
			parts = append(parts, f.name)
		}
	}
	if codes := mongo.ErrorCodes(err); len(codes) > 0 {
		parts = append(parts, fmt.Sprintf("codes %v", codes))
	}
	return strings.Join(append(parts, labels(err)...), ", ")
}

// kind returns the official type that a type switch of a program finds, or errors.As.
func kind(err error) string {
	for _, as := range []func(error) string{
		found[mongo.CommandError], found[mongo.WriteException], found[mongo.BulkWriteException], found[mongo.ClientBulkWriteException],
		found[mongo.MarshalError], found[mongo.ErrMapForOrderedArgument], found[mongo.InvalidArgumentError], found[mongo.WriteConcernError],
	} {
		if name := as(err); name != "" {
			return name
		}
	}
	return "error"
}

func found[E error](err error) string {
	var e E
	if _, same := err.(E); same { //nolint:errorlint // the concrete type is printed
		return fmt.Sprintf("%T", e)
	}
	if errors.As(err, &e) {
		return fmt.Sprintf("wrapped %T", e)
	}
	return ""
}

func labels(err error) []string {
	var has []string
	var labelled mongo.LabeledError
	if !errors.As(err, &labelled) {
		return nil
	}
	for _, label := range []string{
		"NetworkError", "RetryableWriteError", "NoWritesPerformed", "SystemOverloadedError", "RetryableError",
		"TransientTransactionError", "UnknownTransactionCommitResult", "ResumableChangeStreamError",
	} {
		if labelled.HasErrorLabel(label) {
			has = append(has, "label "+label)
		}
	}
	return has
}

func textOf(err error) string {
	if err == nil {
		return "none"
	}
	return oneLine(err.Error())
}

// show returns a value as text. Cursors are read to their ends.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case string:
		return v
	case fmt.Stringer:
		return v.String()
	}
	text, err := bson.MarshalExtJSON(bson.D{{Key: "v", Value: v}}, true, false)
	if err != nil {
		return fmt.Sprintf("%+v", v)
	}
	return string(text[5 : len(text)-1])
}
