package router

import (
	"math"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// find returns the command that a find in an OP_QUERY means: find, or explain. The error is that of malformed bytes; what else is wrong
// becomes o.refused.
func (o *old) find(q *wire.Query, collection string) ([]byte, error) {
	switch {
	case q.Flags&wire.Exhaust != 0:
		o.refused = &refusal{code: codeExhaustAtMongos, name: "Location18526", text: "the flag exhaust of an OP_QUERY is set; a mongos does not support it"}
		return nil, nil
	case q.Return == math.MinInt32:
		o.refused = badValue("numberToReturn in an OP_QUERY is %d, it must be greater", q.Return)
		return nil, nil
	}
	filter, wrapped, err := filterOf(q.Document)
	if err != nil {
		return nil, err
	}
	f := oldFind{old: o}
	var at int
	at, f.inner = wire.BeginDocument(nil)
	f.inner = wire.AppendString(f.inner, "find", collection)
	f.inner = wire.AppendDocument(f.inner, "filter", filter)
	if q.Selector != nil {
		f.inner = wire.AppendDocument(f.inner, "projection", q.Selector)
	}
	f.inner = appendCounts(f.inner, q)
	f.inner = appendFlags(f.inner, q.Flags)
	if wrapped {
		for it := wire.Elements(q.Document); it.Next(); {
			f.take(&it.Element)
		}
	}
	if o.explained {
		return f.explain(at), nil
	}
	return wire.EndDocument(append(f.inner, f.outer...), at), nil
}

// filterOf returns the filter in the document of an OP_QUERY, and whether that is a wrapper. As at a server, it is one if it has a document
// in the field query or $query, wherever that stands.
func filterOf(document []byte) (filter []byte, wrapped bool, err error) {
	filter = document
	it := wire.Elements(document)
	for it.Next() {
		if isQuery(&it.Element) && (!wrapped || string(it.Key) == "query") {
			filter, wrapped = it.Document(), true
		}
	}
	return filter, wrapped, it.Err
}

// oldFind are the fields of the command that a find becomes.
type oldFind struct {
	*old
	inner []byte // those of the find
	outer []byte // those of the command that the find is, or of the explain that it is in
}

// modifiers has the fields of a wrapper that become a field with the same value.
var modifiers = map[string]string{
	"$orderby": "sort", "orderby": "sort", "$hint": "hint", "$min": "min", "$max": "max", "$comment": "comment", "$collation": "collation",
	"$maxScan": "maxScan", // refused by servers since 4.2, as is snapshot: a client learns that from them
}

// switches has the fields of a wrapper that become true if they are true or a number other than 0.
var switches = map[string]string{"$returnKey": "returnKey", "$showDiskLoc": "showRecordId", "$snapshot": "snapshot"}

// take reads one field of a wrapper. Those that it does not know are ignored, as a server did.
func (f *oldFind) take(e *wire.Element) {
	name := string(e.Key)
	switch name {
	case "$explain":
		f.explained = e.True()
		return
	case "$maxTimeMS":
		f.outer = wire.AppendValue(f.outer, "maxTimeMS", e.Type, e.Value)
		return
	case "$readPreference":
		f.outer = wire.AppendElement(f.outer, *e)
		return
	}
	if field := modifiers[name]; field != "" {
		f.inner = wire.AppendValue(f.inner, field, e.Type, e.Value)
	}
	if field := switches[name]; field != "" && e.True() {
		f.inner = wire.AppendBool(f.inner, field, true)
	}
}

// explain returns the command that explains the find, as verbosely as a server explained an OP_QUERY.
func (f *oldFind) explain(at int) []byte {
	start, b := wire.BeginDocument(nil)
	b = wire.AppendDocument(b, "explain", wire.EndDocument(f.inner, at))
	b = wire.AppendString(b, "verbosity", "allPlansExecution")
	return wire.EndDocument(append(b, f.outer...), start)
}

// appendCounts translates skip and numberToReturn: 0 means that the server chooses, 1 or less that there are no more than that many in one
// batch, and no cursor.
func appendCounts(dst []byte, q *wire.Query) []byte {
	if q.Skip != 0 {
		dst = wire.AppendInt32(dst, "skip", q.Skip)
	}
	n := q.Return
	if n == 1 || n < 0 {
		n = max(n, -n)
		dst = wire.AppendInt32(dst, "limit", n)
		dst = wire.AppendBool(dst, "singleBatch", true)
	}
	if n > 0 {
		dst = wire.AppendInt32(dst, "batchSize", n) // with a limit, too: without one the first batch has at most 101 documents
	}
	return dst
}

func appendFlags(dst []byte, flags uint32) []byte {
	for _, f := range []struct {
		flag uint32
		name string
	}{
		{wire.TailableCursor, "tailable"},
		{wire.OplogReplay, "oplogReplay"},
		{wire.NoCursorTimeout, "noCursorTimeout"},
		{wire.AwaitData, "awaitData"},
		{wire.Partial, "allowPartialResults"},
	} {
		if flags&f.flag != 0 {
			dst = wire.AppendBool(dst, f.name, true)
		}
	}
	return dst
}
