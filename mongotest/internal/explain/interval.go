package explain

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// interval is a range of the values of one field of an index. From is never above to.
type interval struct {
	from, to         query.Value
	fromOpen, toOpen bool // the end itself is not in it
}

var (
	minKey    = query.Value{Type: bson.TypeMinKey}
	maxKey    = query.Value{Type: bson.TypeMaxKey}
	null      = query.Value{Type: bson.TypeNull}
	anything  = []interval{{from: minKey, to: maxKey}}
	emptyText = textOf("")
	emptyList = query.Value{Type: bson.TypeArray, Data: query.EmptyDocument}
	emptyDoc  = query.Value{Type: bson.TypeEmbeddedDocument, Data: query.EmptyDocument}
)

func point(v query.Value) interval { return interval{from: v, to: v} }

func (i interval) empty() bool {
	c := query.Compare(i.from, i.to)
	return c > 0 || c == 0 && (i.fromOpen || i.toOpen)
}

func (i interval) isPoint() bool { return query.Compare(i.from, i.to) == 0 }

func (i interval) whole() bool {
	return i.from.Type == bson.TypeMinKey && i.to.Type == bson.TypeMaxKey && !i.fromOpen && !i.toOpen
}

// place is -1 for a value before the interval, 0 for one in it, and 1 for one behind it.
func (i interval) place(v query.Value) int {
	switch from, to := query.Compare(v, i.from), query.Compare(v, i.to); {
	case from < 0 || from == 0 && i.fromOpen:
		return -1
	case to > 0 || to == 0 && i.toOpen:
		return 1
	}
	return 0
}

// text writes the interval as explain does, from behind if the index is read so.
func (i interval) text(reversed bool) string {
	from, to, fromOpen, toOpen := i.from, i.to, i.fromOpen, i.toOpen
	if reversed {
		from, to, fromOpen, toOpen = to, from, toOpen, fromOpen
	}
	open, end := "[", "]"
	if fromOpen {
		open = "("
	}
	if toOpen {
		end = ")"
	}
	return open + boundText(from) + ", " + boundText(to) + end
}

func boundText(v query.Value) string {
	if v.IsNumber() {
		if f := v.AsFloat64(); math.IsInf(f, 0) || math.IsNaN(f) {
			return strings.ToLower(strings.TrimPrefix(infinity(f), "+"))
		}
	}
	return v.Whole()
}

func infinity(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case f < 0:
		return "-inf"
	}
	return "inf"
}

// intersection returns what two lists have in common.
func intersection(a, b []interval) []interval {
	list := []interval{}
	for _, x := range a {
		for _, y := range b {
			if z := meet(x, y); !z.empty() {
				list = append(list, z)
			}
		}
	}
	return list
}

func meet(x, y interval) interval {
	z := x
	if c := query.Compare(y.from, x.from); c > 0 || c == 0 && y.fromOpen {
		z.from, z.fromOpen = y.from, y.fromOpen
	}
	if c := query.Compare(y.to, x.to); c < 0 || c == 0 && y.toOpen {
		z.to, z.toOpen = y.to, y.toOpen
	}
	return z
}

// union returns lists as one, in order, with those that touch as one.
func union(list []interval) []interval {
	slices.SortStableFunc(list, func(a, b interval) int { return query.Compare(a.from, b.from) })
	out := []interval{}
	for _, next := range list {
		if next.empty() {
			continue
		}
		if n := len(out) - 1; n >= 0 {
			c := query.Compare(next.from, out[n].to)
			if c < 0 || c == 0 && (!next.fromOpen || !out[n].toOpen) {
				if query.Compare(next.to, out[n].to) > 0 {
					out[n].to, out[n].toOpen = next.to, next.toOpen
				}
				continue
			}
		}
		out = append(out, next)
	}
	return out
}

// complement returns what a list leaves out.
func complement(list []interval) []interval {
	rest := interval{from: minKey, to: maxKey}
	out := []interval{}
	for _, i := range list {
		before := rest
		before.to, before.toOpen = i.from, !i.fromOpen
		if !before.empty() {
			out = append(out, before)
		}
		rest.from, rest.fromOpen = i.to, !i.toOpen
	}
	if !rest.empty() {
		out = append(out, rest)
	}
	return out
}

// typeRange returns the values that an order comparison with a value looks at: those of its type.
func typeRange(v query.Value) (interval, bool) {
	number := func(t bson.Type, n uint64) query.Value {
		return query.Value{Type: t, Data: binary.LittleEndian.AppendUint64(nil, n)}
	}
	switch {
	case v.IsNumber():
		return interval{from: query.Double(math.Inf(-1)), to: query.Double(math.Inf(1))}, true
	case v.IsString():
		return interval{from: emptyText, to: emptyDoc, toOpen: true}, true
	case v.IsDocument():
		return interval{from: emptyDoc, to: emptyList, toOpen: true}, true
	}
	switch v.Type {
	case bson.TypeObjectID:
		return interval{from: query.Value{Type: v.Type, Data: make([]byte, 12)}, to: query.Value{Type: v.Type, Data: slices.Repeat([]byte{255}, 12)}}, true
	case bson.TypeBoolean:
		return interval{from: query.Value{Type: v.Type, Data: []byte{0}}, to: query.Value{Type: v.Type, Data: []byte{1}}}, true
	case bson.TypeDateTime:
		return interval{from: number(v.Type, 1<<63), to: number(v.Type, math.MaxInt64)}, true
	case bson.TypeTimestamp:
		return interval{from: number(v.Type, 0), to: number(v.Type, math.MaxUint64)}, true
	case bson.TypeMinKey, bson.TypeMaxKey:
		return anything[0], true
	}
	return interval{}, false
}
