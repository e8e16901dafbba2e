package couchbasetest

import (
	"bytes"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/subjson"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// replaceBody makes what an extended attribute has the value of the document. The attribute stays.
func (m *mutation) replaceBody(s memd.Spec) memd.Status {
	path, status := subjson.ParsePath(s.Path)
	if status != memd.StatusSuccess {
		return status
	}
	value, status := subjson.Get(m.xattrs, path)
	if status == memd.StatusSuccess && s.Flags&memd.SpecBinaryValue != 0 {
		value, status = decodeBinary(value)
	}
	if status == memd.StatusSuccess {
		m.empty, m.next.Value = false, bytes.Clone(value)
	}
	return status
}
