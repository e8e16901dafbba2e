// Package languages plays one scenario with other people's Couchbase SDKs, in their own languages, against
// `holdfast mock --backend couchbase`. README.md describes the scenario; clients_test.go lists the SDKs. It has only tests.
package languages
