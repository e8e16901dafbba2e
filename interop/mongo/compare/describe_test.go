package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	{"context.Canceled", context.Canceled},
	{"context.DeadlineExceeded", context.DeadlineExceeded},
}

// describe returns all that a program can learn from an error, without its text.
func describe(err error) string {
	if err == nil {
		return "none"
	}
	return strings.Join(append([]string{kind(err)}, facts(err)...), ", ")
}

// describeFailure returns what a listener can learn from the error of an event. The types of these errors are not the
// same in both drivers.
func describeFailure(err error) string {
	text := "shows no secret"
	if strings.Contains(fmt.Sprintf("%v %+v", err, err), "secret") {
		text = "shows the secret"
	}
	return strings.Join(append([]string{text}, facts(err)...), ", ")
}

// facts are all that a program can learn from an error of any type.
func facts(err error) []string {
	var parts []string
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
	if labels := labels(err); len(labels) > 0 {
		parts = append(parts, fmt.Sprintf("labels %v", labels))
	}
	return parts
}

// kind returns the type of the first error of the chain that is an official one, with its fields.
func kind(err error) string {
	var command mongo.CommandError
	var write mongo.WriteException
	var bulk mongo.BulkWriteException
	var marshal mongo.MarshalError
	var ordered mongo.ErrMapForOrderedArgument
	switch {
	case errors.As(err, &command):
		message := ""
		if command.Message != "" {
			message = " with a message"
		}
		return "CommandError" + message
	case errors.As(err, &write):
		return fmt.Sprintf("WriteException (%d write errors, write concern error: %t)",
			len(write.WriteErrors), write.WriteConcernError != nil)
	case errors.As(err, &bulk):
		var indexes []int
		for _, e := range bulk.WriteErrors {
			indexes = append(indexes, e.Index)
		}
		return fmt.Sprintf("BulkWriteException (write errors at %v, write concern error: %t)", indexes, bulk.WriteConcernError != nil)
	case errors.As(err, &marshal):
		return "MarshalError"
	case errors.As(err, &ordered):
		return fmt.Sprintf("ErrMapForOrderedArgument (%s)", ordered.ParamName)
	default:
		return "error"
	}
}

func labels(err error) []string {
	var has []string
	var labelled mongo.LabeledError
	if !errors.As(err, &labelled) {
		return nil
	}
	for _, label := range []string{
		"NetworkError", "RetryableWriteError", "NoWritesPerformed", "SystemOverloadedError", "RetryableError",
		"TransientTransactionError", "UnknownTransactionCommitResult",
	} {
		if labelled.HasErrorLabel(label) {
			has = append(has, label)
		}
	}
	slices.Sort(has)
	return has
}
