// Package unified runs files of MongoDB's unified test format against a server, with one client package. It names that
// package's types and functions only through the aliases of bind_*.go, of which a build tag chooses one, so that every client
// is held against the same files by the same code. A case that needs a method or an option that the client does not have yet ends
// with [NotSupported]. Only tests import it.
//
// Begin with doc.go. Then one file for each concept of the format.
package unified
