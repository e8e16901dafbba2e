// Package engine measures what an operation costs that goes through the retry engine, beside other Go libraries and a
// bare call, in one run. It has only tests; TestSpeed's comment says what is measured and how.
package engine
