// Package mongotest measures the costs of the test server: of its start, of its work for clients, and of minutes on the fake
// clock with the unmodified official driver as the client. It has only tests.
package mongotest
