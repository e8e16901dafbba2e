// Package bench measures the cost of an operation in the client's process, and compares it with the same bytes on a bare
// socket and with the official driver, in one run. It has only tests; the comments of TestSpeed and TestDecoding
// describe the measurements.
package bench
