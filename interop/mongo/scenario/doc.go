// Package scenario runs one scenario of everyday work and trouble on the small replica set, over TCP, with the
// unmodified official driver and with ours. It has only tests.
package scenario
