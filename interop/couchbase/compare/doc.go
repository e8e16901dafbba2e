// Package compare runs one program with gocb and with package couchbase and compares what it prints: the texts and the JSON of
// errors, what errors match, what transcoders make of odd values, and the outcomes of odd arguments and options. The known differences
// stand in differences_test.go, with the reason; a row that is not needed any more fails the test. It has only tests.
package compare
