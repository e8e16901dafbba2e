package couchbasetest

import (
	"strconv"
	"strings"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/store"
	"github.com/holdfast-db/holdfast/couchbasetest/internal/subjson"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// lookupIn reads parts of a document.
func lookupIn(x *exec) *Reply {
	var flags memd.DocFlags
	if len(x.p.Extras) == 1 {
		flags = memd.DocFlags(x.p.Extras[0])
	}
	specs, reply := x.readParts(memd.CutLookup, lookupParts, flags)
	if reply != nil {
		return reply
	}
	if !x.copy.Readable(x.key) {
		return x.refuse(memd.StatusSyncWriteReCommit)
	}
	d := x.copy.Get(x.key, x.now)
	if d == nil && flags&memd.DocAccessDeleted != 0 {
		d = x.copy.GetDeleted(x.key, x.now)
	}
	if d == nil {
		return refusal(memd.StatusKeyNotFound)
	}
	return x.lookUp(d, specs)
}

func (x *exec) lookUp(d *store.Document, specs []memd.Spec) *Reply {
	reply := &Reply{CAS: x.shownCAS(d)}
	failed := false
	view := &view{exec: x, document: d}
	for _, s := range specs {
		value, status := view.read(s)
		failed = failed || status != memd.StatusSuccess
		reply.Value = memd.AppendLookupResult(reply.Value, status, value)
	}
	switch {
	case failed && d.Deleted:
		reply.Status = memd.StatusMultiFailureDeleted
	case failed:
		reply.Status = memd.StatusMultiFailure
	case d.Deleted:
		reply.Status = memd.StatusSuccessDeleted
	}
	return reply
}

// view is a document while parts of it are read.
type view struct {
	exec     *exec
	document *store.Document
	virtual  []byte // the virtual attributes, made when they are first asked for
}

// read returns what a part of a look-up asks for.
func (v *view) read(s memd.Spec) ([]byte, memd.Status) {
	path, status := subjson.ParsePath(s.Path)
	if status != memd.StatusSuccess {
		return nil, status
	}
	if s.Op == memd.OpGet {
		return v.whole()
	}
	text, status := v.text(s, path)
	if status != memd.StatusSuccess {
		return nil, status
	}
	value, status := reads[s.Op](text, path)
	if status == memd.StatusSuccess && s.Flags&memd.SpecBinaryValue != 0 {
		return decodeBinary(value)
	}
	return value, status
}

// reads are the parts of look-ups, but for the whole document, by opcode.
var reads = map[memd.Opcode]func(text []byte, path subjson.Path) ([]byte, memd.Status){
	memd.OpSubdocGet: subjson.Get,
	memd.OpSubdocExists: func(text []byte, path subjson.Path) ([]byte, memd.Status) {
		_, status := subjson.Get(text, path)
		return nil, status
	},
	memd.OpSubdocGetCount: func(text []byte, path subjson.Path) ([]byte, memd.Status) {
		n, status := subjson.Count(text, path)
		if status != memd.StatusSuccess {
			return nil, status
		}
		return strconv.AppendInt(nil, int64(n), 10), status
	},
}

// whole returns the value of the document.
func (v *view) whole() ([]byte, memd.Status) {
	if v.document.Deleted {
		return nil, memd.StatusKeyNotFound
	}
	return v.document.Value, memd.StatusSuccess
}

// text returns the JSON into which a path leads: the document, its extended attributes, or the virtual ones.
func (v *view) text(s memd.Spec, path subjson.Path) ([]byte, memd.Status) {
	switch {
	case s.Flags&memd.SpecXattr == 0 && v.document.Deleted:
		return nil, memd.StatusPathNotFound
	case s.Flags&memd.SpecXattr == 0:
		return v.document.Value, subjson.Check(v.document.Value)
	case strings.HasPrefix(path[0].Name, "$"):
		if v.virtual == nil {
			v.virtual = v.exec.virtualXattrs(v.document)
		}
		if _, status := subjson.Get(v.virtual, path[:1]); status != memd.StatusSuccess {
			return nil, memd.StatusXattrUnknownVirtual
		}
		return v.virtual, memd.StatusSuccess
	case v.document.Xattrs == nil:
		return []byte("{}"), memd.StatusSuccess
	}
	return v.document.Xattrs, memd.StatusSuccess
}
