package httpapi

// UsualBucket returns the settings of a new bucket that nobody has set. kind is "membase" or "ephemeral", storage "couchstore", "magma" or, if
// nobody has set that either, "". By Couchbase's docs of the REST API and ns_server, a bucket is one of magma since 8.0, and one of magma
// then has 128 vbuckets and ejects whole documents.
func UsualBucket(of Release, kind, storage string) Bucket {
	b := Bucket{
		Type: kind, Storage: storage, VBuckets: 1024, Eviction: "valueOnly", Compression: "passive", MinimumDurability: "none", ConflictResolution: "seqno",
	}
	newer := of.AtLeast(8, 0)
	switch {
	case kind == "ephemeral":
		b.Storage, b.Eviction = "", "noEviction"
	case storage == "" && newer:
		b.Storage = "magma"
	case storage == "":
		b.Storage = "couchstore"
	}
	if b.Storage == "magma" {
		b.HistoryDefault = true
		if newer {
			b.VBuckets, b.Eviction = 128, "fullEviction"
		}
	}
	return b
}
