// Package failures runs one script of failures with the official driver and with ours and prints the
// errors that each returned to the application. The specifications demand that all of them be retried. It has only tests.
package failures
