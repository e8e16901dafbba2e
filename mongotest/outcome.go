package mongotest

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// outcome gathers what the statements of a write command did.
type outcome struct {
	n, modified int32
	upserted    []upserted
	retried     []int32
	failures    []failure
}

type upserted struct {
	index int
	id    query.Value
}

type failure struct {
	index int
	err   *mongoerr.Error
}

// updated counts a document that matched an update.
func (o *outcome) updated(changed bool) {
	o.n++
	if changed {
		o.modified++
	}
}

// add adds what another statement did.
func (o *outcome) add(other *outcome) {
	o.n += other.n
	o.modified += other.modified
	o.upserted = append(o.upserted, other.upserted...)
	o.retried = append(o.retried, other.retried...)
	o.failures = append(o.failures, other.failures...)
}

func appendUpserted(dst []byte, list []upserted) []byte {
	if len(list) == 0 {
		return dst
	}
	at, dst := wire.BeginArray(dst, "upserted")
	for i, u := range list {
		one, d := wire.BeginEmbedded(dst, wire.ArrayKey(i))
		d = wire.AppendInt32(d, "index", int32(u.index))
		d = wire.AppendValue(d, "_id", u.id.Type, u.id.Data)
		dst = wire.EndDocument(d, one)
	}
	return wire.EndDocument(dst, at)
}

func appendFailures(dst []byte, list []failure) []byte {
	if len(list) == 0 {
		return dst
	}
	at, dst := wire.BeginArray(dst, "writeErrors")
	for i, f := range list {
		one, d := wire.BeginEmbedded(dst, wire.ArrayKey(i))
		d = wire.AppendInt32(d, "index", int32(f.index))
		d = wire.AppendInt32(d, "code", f.err.Code)
		d = wire.AppendString(d, "errmsg", f.err.Message)
		d = append(d, f.err.Extra...)
		dst = wire.EndDocument(d, one)
	}
	return wire.EndDocument(dst, at)
}
