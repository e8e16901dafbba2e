package call

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Outcome gathers what the statements of a write command did.
type Outcome struct {
	N, Modified int32
	Upserted    []Upserted
	Retried     []int32
	Failures    []Failure
}

// Upserted is a document that an upsert inserted, and the index of its statement.
type Upserted struct {
	Index int
	ID    query.Value
}

// Failure is the error of a statement, and its index.
type Failure struct {
	Index int
	Err   *mongoerr.Error
}

// Updated counts a document that matched an update.
func (o *Outcome) Updated(changed bool) {
	o.N++
	if changed {
		o.Modified++
	}
}

// Add adds what another statement did.
func (o *Outcome) Add(other *Outcome) {
	o.N += other.N
	o.Modified += other.Modified
	o.Upserted = append(o.Upserted, other.Upserted...)
	o.Retried = append(o.Retried, other.Retried...)
	o.Failures = append(o.Failures, other.Failures...)
}

func appendUpserted(dst []byte, list []Upserted) []byte {
	if len(list) == 0 {
		return dst
	}
	at, dst := wire.BeginArray(dst, "upserted")
	for i, u := range list {
		one, d := wire.BeginEmbedded(dst, wire.ArrayKey(i))
		d = wire.AppendInt32(d, "index", int32(u.Index))
		d = wire.AppendValue(d, "_id", u.ID.Type, u.ID.Data)
		dst = wire.EndDocument(d, one)
	}
	return wire.EndDocument(dst, at)
}

func appendFailures(dst []byte, list []Failure) []byte {
	if len(list) == 0 {
		return dst
	}
	at, dst := wire.BeginArray(dst, "writeErrors")
	for i, f := range list {
		one, d := wire.BeginEmbedded(dst, wire.ArrayKey(i))
		d = wire.AppendInt32(d, "index", int32(f.Index))
		d = wire.AppendInt32(d, "code", f.Err.Code)
		d = wire.AppendString(d, "errmsg", f.Err.Message)
		d = append(d, f.Err.Extra...)
		dst = wire.EndDocument(d, one)
	}
	return wire.EndDocument(dst, at)
}
