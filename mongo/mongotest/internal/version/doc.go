// Package version is the versions of the real server that a test server can behave like, and what each has.
package version
