// Package mockcontrol serves the HTTP control port of `holdfast mock --backend couchbase`: JSON requests that change a
// cluster of package couchbasetest, make its requests fail, and read what happened. docs/COUCHBASE-MOCK.md describes them.
package mockcontrol
