package mongotest

import (
	"fmt"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
)

// https://www.mongodb.com/docs/manual/reference/command/validate/

// validation is what a validate found.
type validation struct {
	c      *collection
	keys   []int32 // of each index
	arrays []bool  // an index has several keys of a document
	errors []string
}

func cmdValidate(x *exec) error {
	if err := x.collectionName(); err != nil {
		return err
	}
	for i := range x.args {
		switch name := string(x.args[i].Key); name {
		case "full", "background", "checkBSONConformance", "metadata", "enforceFastCount":
		case "repair", "fixMultikey":
			if x.args[i].True() {
				return unsupportedField("validate", name)
			}
		default:
			return unknownField("validate", name)
		}
	}
	if err := x.reading(); err != nil {
		return err
	}
	defer x.set.mu.Unlock()
	c, err := x.member.storedLocked(x.full)
	if err != nil {
		return err
	}
	if c == nil {
		return mongoerr.Errorf(mongoerr.NamespaceNotFound, "Collection '%s' does not exist to validate.", x.full)
	}
	v := &validation{c: c}
	v.run()
	x.appendValidation(v)
	return nil
}

// run holds what the collection keeps beside its documents against them.
func (v *validation) run() {
	live, size := 0, int64(0)
	v.c.scan(func(r *record) bool {
		live++
		size += int64(len(r.doc))
		if v.c.byID[r.key] != r {
			v.errors = append(v.errors, fmt.Sprintf("record %d is not found by its _id", r.id))
		}
		return true
	})
	if live != v.c.live || size != v.c.size {
		v.errors = append(v.errors, fmt.Sprintf("%d documents of %d bytes are counted as %d of %d", live, size, v.c.live, v.c.size))
	}
	for _, ix := range v.c.def.indexes {
		v.runIndex(ix)
	}
}

func (v *validation) runIndex(ix *index) {
	n, arrays := int32(0), false
	v.c.scan(func(r *record) bool {
		keys := []indexKey{nil}
		if ix.ordered() {
			keys, _ = ix.keys(r.doc)
		}
		distinct := make(map[string]bool)
		for _, k := range keys {
			distinct[k.encode()] = true
		}
		for _, u := range v.c.uniques {
			for k := range distinct {
				if u.index == ix && u.holders[k] != r {
					v.errors = append(v.errors, fmt.Sprintf("record %d is not in the index %s", r.id, ix.name))
				}
			}
		}
		n += int32(len(distinct))
		arrays = arrays || len(distinct) > 1
		return true
	})
	v.keys, v.arrays = append(v.keys, n), append(v.arrays, arrays)
}

func (x *exec) appendValidation(v *validation) {
	dst := wire.AppendString(x.out, "ns", x.full)
	dst = wire.AppendBinary(dst, "uuid", 4, v.c.def.uuid[:])
	for _, name := range [...]string{"nInvalidDocuments", "nNonCompliantDocuments"} {
		dst = wire.AppendInt32(dst, name, 0)
	}
	dst = wire.AppendInt32(dst, "nrecords", int32(v.c.live))
	dst = wire.AppendInt32(dst, "nIndexes", int32(len(v.c.def.indexes)))
	at, dst := wire.BeginEmbedded(dst, "keysPerIndex")
	for i, ix := range v.c.def.indexes {
		dst = wire.AppendInt32(dst, ix.name, v.keys[i])
	}
	dst = wire.EndDocument(dst, at)
	at, dst = wire.BeginEmbedded(dst, "indexDetails")
	for i, ix := range v.c.def.indexes {
		one, d := wire.BeginEmbedded(dst, ix.name)
		d = wire.AppendBool(d, "valid", true)
		d = wire.AppendDocument(d, "spec", ix.shown())
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
	x.out = dst
}
