// Package documents compares how our client and the official driver write and read documents, against one server in one
// program. It has only tests.
package documents
