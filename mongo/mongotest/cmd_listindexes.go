package mongotest

import (
	"math"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/listIndexes/

func cmdListIndexes(x *exec) error {
	if err := x.collectionName(); err != nil {
		return err
	}
	size, building := int64(math.MaxInt32), false
	for i := range x.args {
		e := &x.args[i]
		var err error
		switch string(e.Key) {
		case "cursor":
			size, err = x.cursorOption(e, size)
		case "includeIndexBuildInfo":
			building = e.True()
		}
		if err != nil {
			return err
		}
	}
	if err := x.reading(); err != nil {
		return err
	}
	var def *definition
	c, err := x.member.storedLocked(x.full)
	if c != nil {
		def = c.def
	}
	x.set.mu.Unlock()
	if err != nil {
		return err
	}
	if def == nil {
		return mongoerr.Errorf(mongoerr.NamespaceNotFound, "ns does not exist: %s", x.full)
	}
	docs := make([][]byte, len(def.indexes))
	for i, ix := range def.indexes {
		if docs[i] = ix.listed(x.set.config.version); building {
			at, info := wire.BeginDocument(nil)
			docs[i] = wire.EndDocument(wire.AppendDocument(info, "spec", docs[i]), at)
		}
	}
	return x.replyCursor(docs, nil, cursorReply{size: size, ends: true, order: batchLast})
}

// bytewise is the collation that compares bytes.
var bytewise = wire.EndDocument(wire.AppendString([]byte{0, 0, 0, 0}, "locale", "simple"), 0)

// listed returns the specification with what it does not say of its own: that it compares bytes.
func (ix *index) listed(v version) []byte {
	shown := ix.shown()
	if !v.showsSimpleCollation() || !query.Lookup(shown, "collation").Missing() {
		return shown
	}
	at, dst := wire.BeginDocument(nil)
	it := wire.Elements(shown)
	for it.Next() && string(it.Key) != "clustered" {
		dst = wire.AppendElement(dst, it.Element)
	}
	dst = wire.AppendDocument(dst, "collation", bytewise)
	if clustered := query.Lookup(shown, "clustered"); !clustered.Missing() {
		dst = wire.AppendValue(dst, "clustered", clustered.Type, clustered.Data)
	}
	return wire.EndDocument(dst, at)
}

// cursorOption reads {batchSize: n}.
func (x *exec) cursorOption(e *wire.Element, size int64) (int64, error) {
	err := cursorFields[x.name].document(e.Value, func(e *wire.Element) error {
		size, _ = e.Int64()
		return nil
	})
	return size, err
}
