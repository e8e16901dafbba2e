package store

import (
	"fmt"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// validation is what a validate found.
type validation struct {
	c      *Collection
	keys   []int32 // of each index
	arrays []bool  // an index has several keys of a document
	errors []string
}

// run holds what the collection keeps beside its documents against them.
func (v *validation) run() {
	live, size := 0, int64(0)
	v.c.Scan(func(r *Record) bool {
		live++
		size += int64(len(r.Doc))
		if v.c.ByKey[r.Key] != r {
			v.errors = append(v.errors, fmt.Sprintf("record %d is not found by its _id", r.ID))
		}
		return true
	})
	if live != v.c.Live || size != v.c.Size {
		v.errors = append(v.errors, fmt.Sprintf("%d documents of %d bytes are counted as %d of %d", live, size, v.c.Live, v.c.Size))
	}
	for _, ix := range v.c.Def.Indexes {
		v.runIndex(ix)
	}
}

func (v *validation) runIndex(ix *Index) {
	n, arrays := int32(0), false
	v.c.Scan(func(r *Record) bool {
		keys := []Key{nil}
		if ix.Ordered() || ix.refusesDuplicates() {
			keys, _ = ix.Keys(r.Doc)
		}
		distinct := make(map[string]bool)
		for _, k := range keys {
			distinct[k.Encode()] = true
		}
		for _, u := range v.c.Uniques {
			for k := range distinct {
				if u.Index == ix && u.Holders[k] != r {
					v.errors = append(v.errors, fmt.Sprintf("record %d is not in the index %s", r.ID, ix.Name))
				}
			}
		}
		n += int32(len(distinct))
		arrays = arrays || len(distinct) > 1
		return true
	})
	v.keys, v.arrays = append(v.keys, n), append(v.arrays, arrays)
}

// AppendValidation appends what a validate of the collection finds.
func (c *Collection) AppendValidation(dst []byte, ns string) []byte {
	v := &validation{c: c}
	v.run()
	dst = wire.AppendString(dst, "ns", ns)
	dst = wire.AppendBinary(dst, "uuid", 4, v.c.Def.UUID[:])
	for _, name := range [...]string{"nInvalidDocuments", "nNonCompliantDocuments"} {
		dst = wire.AppendInt32(dst, name, 0)
	}
	dst = wire.AppendInt32(dst, "nrecords", int32(v.c.Live))
	dst = wire.AppendInt32(dst, "nIndexes", int32(len(v.c.Def.Indexes)))
	at, dst := wire.BeginEmbedded(dst, "keysPerIndex")
	for i, ix := range v.c.Def.Indexes {
		dst = wire.AppendInt32(dst, ix.Name, v.keys[i])
	}
	dst = wire.EndDocument(dst, at)
	at, dst = wire.BeginEmbedded(dst, "indexDetails")
	for i, ix := range v.c.Def.Indexes {
		one, d := wire.BeginEmbedded(dst, ix.Name)
		d = wire.AppendBool(d, "valid", true)
		d = wire.AppendDocument(d, "spec", ix.Shown())
		d = wire.AppendBool(d, "isMultikey", v.arrays[i])
		dst = wire.EndDocument(d, one)
	}
	dst = wire.EndDocument(dst, at)
	dst = wire.AppendBool(dst, "valid", len(v.errors) == 0)
	dst = wire.AppendBool(dst, "repaired", false)
	dst = wire.AppendStrings(dst, "warnings", nil)
	dst = wire.AppendStrings(dst, "errors", v.errors)
	for _, name := range [...]string{"extraIndexEntries", "missingIndexEntries", "corruptRecords"} {
		dst = wire.AppendStrings(dst, name, nil)
	}
	return dst
}
