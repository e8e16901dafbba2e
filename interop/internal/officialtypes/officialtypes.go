// Package officialtypes decides by the error types of the official driver, whatever client an error comes from: it is a library that
// imports the official driver, in a program whose own import may be ours.
package officialtypes

import (
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"
)

// Decisions returns what errors.As finds, with the fields, and what the official functions say.
func Decisions(err error) []string {
	lines := []string{
		fmt.Sprint("IsTimeout: ", mongo.IsTimeout(err)), fmt.Sprint("IsNetworkError: ", mongo.IsNetworkError(err)),
		fmt.Sprint("IsDuplicateKeyError: ", mongo.IsDuplicateKeyError(err)), fmt.Sprint("ErrorCodes: ", mongo.ErrorCodes(err)),
	}
	lines = append(lines, found(err, func(e mongo.CommandError) string { return fmt.Sprint(e.Code, e.Name, labels(e.Labels)) }))
	lines = append(lines, found(err, func(e mongo.WriteException) string { return fmt.Sprint(e.ErrorCodes(), labels(e.Labels)) }))
	lines = append(lines, found(err, func(e mongo.BulkWriteException) string { return fmt.Sprint(e.ErrorCodes(), labels(e.Labels)) }))
	lines = append(lines, found(err, func(e mongo.ClientBulkWriteException) string {
		return fmt.Sprint(len(e.WriteErrors), e.WriteError != nil)
	}))
	lines = append(lines, found(err, func(e mongo.ServerError) string { return fmt.Sprint(e.ErrorCodes()) }))
	lines = append(lines, found(err, func(mongo.LabeledError) string { return "" }))
	lines = append(lines, found(err, func(e driver.Error) string {
		return fmt.Sprint(e.Code, e.Name, labels(e.Labels), e.NetworkError(), len(e.Raw) > 0, e.Wrapped != nil)
	}))
	lines = append(lines, found(err, func(e topology.ServerSelectionError) string {
		return fmt.Sprint(e.Desc.Kind, len(e.Desc.Servers), e.Wrapped)
	}))
	lines = append(lines, found(err, func(e topology.ConnectionError) string { return fmt.Sprint(e.Wrapped != nil) }))
	lines = append(lines, found(err, func(e topology.WaitQueueTimeoutError) string { return fmt.Sprint(e.Wrapped) }))
	lines = append(lines, found(err, func(e driver.RetryablePoolError) string { return fmt.Sprint(e.Retryable()) }))
	return lines
}

func labels(l []string) []string { return slices.Compact(slices.Sorted(slices.Values(l))) }

func found[E any](err error, fields func(E) string) string {
	var e E
	if !errors.As(err, &e) {
		return fmt.Sprintf("As %T: no", &e)
	}
	return fmt.Sprintf("As %T: %s", &e, fields(e))
}
