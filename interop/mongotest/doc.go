// Package mongotest measures the test server: what it costs to start one, to be one, and to live through minutes on the fake
// clock with the unmodified official driver as the client. It has only tests.
package mongotest
