// Package idle measures what a client costs that does nothing: the official driver and ours, on the same set. It has only
// tests.
package idle
