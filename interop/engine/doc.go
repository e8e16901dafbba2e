// Package engine measures what an operation costs that goes through the retry engine, beside other Go libraries and a
// bare call, in one run. It has only tests; TestSpeed's comment describes the measurement.
package engine
