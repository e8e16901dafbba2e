// Package version has the versions of the real server that a test server can behave like, and the differences between them.
package version
