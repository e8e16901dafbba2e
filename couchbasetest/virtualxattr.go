package couchbasetest

import (
	"fmt"
	"hash/crc32"
	"strconv"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/store"
	"github.com/holdfast-db/holdfast/couchbasetest/internal/subjson"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// virtualXattrs returns the extended attributes that the server makes of what it knows of a document, as one object.
func (x *exec) virtualXattrs(d *store.Document) []byte {
	types := []string{"raw"}
	if d.DataType&memd.DataJSON != 0 {
		types[0] = "json"
	}
	names := []string{}
	if d.Xattrs != nil {
		types = append(types, "xattr")
		names, _ = subjson.Members(d.Xattrs)
	}
	hex := func(n uint64) string { return fmt.Sprintf("%#016x", n) }
	return marshal(map[string]any{
		"$document": map[string]any{
			"CAS": hex(d.CAS), "vbucket_uuid": hex(x.copy.UUID), "seqno": hex(d.Seqno), "revid": strconv.FormatUint(d.Revision, 10),
			"exptime": d.Expiry, "flags": d.Flags, "value_bytes": len(d.Value), "datatype": types, "deleted": d.Deleted,
			"last_modified": strconv.FormatInt(d.Changed.Unix(), 10),
			"value_crc32c":  fmt.Sprintf("%#08x", crc32.Checksum(d.Value, castagnoli)),
		},
		"$vbucket": map[string]any{"HLC": map[string]string{"now": strconv.FormatInt(x.now.Unix(), 10), "mode": "real"}},
		"$XTOC":    names,
	})
}
