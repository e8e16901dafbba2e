// Package situations calls every method of a client in some thousands of situations: odd arguments, every option with
// several values, contexts and sessions that cannot be used, servers that fail. It prints the result, the error and the
// commands that were sent. The files are written for the official driver; a test runs them with our import too and
// compares the two outputs line by line. It has only tests.
package situations
