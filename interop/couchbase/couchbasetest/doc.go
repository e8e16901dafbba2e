// Package couchbasetest holds couchbasetest against the official SDK, gocb.
package couchbasetest
