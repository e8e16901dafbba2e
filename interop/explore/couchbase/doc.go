// Package couchbase explores programs that use the official SDK for Go. It has only tests.
package couchbase
