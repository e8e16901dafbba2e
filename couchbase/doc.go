// Package couchbase is a client for Couchbase with the exported names of gocb v2: the official SDK's applications change one import.
// It is not a layer over gocb: requests, connections, cluster maps and retries are those of Holdfast.
//
// Retries follow Couchbase's RFC 0049. An operation that failed says in its error how often it was tried, for which reasons, and
// whether its outcome is known: a timeout matches [ErrUnambiguousTimeout] only if the operation was certainly not applied, or if
// doing it again does no harm.
//
// A [RetryStrategy] may assert its request to [RetryRequestDetails], which has the context and the user's data.
package couchbase
