// Package bench measures what an operation costs the client's process, against the same bytes on a bare socket and
// against the official driver, in one run. It has only tests; the comments of TestSpeed and TestDecoding
// describe the measurements.
package bench
