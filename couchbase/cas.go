package couchbase

// Cas is the version of a document: it changes with every write. 0 means none, so that an operation with it asks for no version.
type Cas uint64
