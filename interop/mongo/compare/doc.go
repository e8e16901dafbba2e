// Package compare gives the same odd input to the official driver and to ours, against the same test server, and
// compares the results, the errors and the commands that were sent. It has only tests.
package compare
