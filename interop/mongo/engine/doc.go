// Package engine measures the cost of an operation that goes through the retry engine, of one that goes through other Go
// libraries, and of a bare call, in one run. It has only tests; TestSpeed's comment describes the measurement.
package engine
