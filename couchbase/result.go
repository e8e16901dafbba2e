package couchbase

// Result is what the results of all key-value operations have.
type Result struct {
	cas Cas
}

// Cas returns the document's version.
func (d *Result) Cas() Cas { return d.cas }
