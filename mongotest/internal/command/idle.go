package command

import (
	"cmp"
	"crypto/sha256"
	"maps"
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/currentOp/

// idleCursors describes the cursors that no command uses.
func idleCursors(x call.Locked) (docs [][]byte) {
	m := x.Client.Member
	for _, id := range slices.Sorted(maps.Keys(m.Cursors)) {
		if c := m.Cursors[id]; !c.Pinned {
			docs = append(docs, idleCursor(c, m.Addr))
		}
	}
	return docs
}

func idleCursor(c *call.Cursor, host string) []byte {
	whole, dst := wire.BeginDocument(nil)
	dst = wire.AppendString(wire.AppendString(dst, "type", "idleCursor"), "host", host)
	dst = wire.AppendString(dst, "ns", c.NS)
	if c.LSID != "" {
		dst = appendSessionID(dst, "lsid", c.LSID)
	}
	at, dst := wire.BeginEmbedded(dst, "cursor")
	dst = wire.AppendInt64(dst, "cursorId", c.ID)
	dst = wire.AppendDateTime(dst, "createdDate", c.Use.Began.UnixMilli())
	dst = wire.AppendDateTime(dst, "lastAccessDate", c.Use.Last.UnixMilli())
	dst = wire.AppendInt64(wire.AppendInt64(dst, "nDocsReturned", c.Use.Docs), "nBatchesReturned", c.Use.Batches)
	dst = wire.AppendBool(wire.AppendBool(dst, "noCursorTimeout", c.Use.NoTimeout), "tailable", c.Use.Tailable)
	dst = wire.AppendBool(dst, "awaitData", c.Use.AwaitsData)
	dst = wire.AppendDocument(dst, "originatingCommand", c.Use.Command)
	return wire.EndDocument(wire.EndDocument(dst, at), whole)
}

// appendSessionID writes a session's id with the digest of its user, who is nobody.
func appendSessionID(dst []byte, key, lsid string) []byte {
	nobody := sha256.Sum256(nil)
	at, dst := wire.BeginEmbedded(dst, key)
	id := query.Lookup([]byte(lsid), "id")
	return wire.EndDocument(wire.AppendBinary(wire.AppendValue(dst, "id", id.Type, id.Data), "uid", 0, nobody[:]), at)
}

// idleSessions describes the sessions with an open transaction.
func idleSessions(x call.Locked) (docs [][]byte) {
	m := x.Client.Member
	open := slices.SortedFunc(maps.Keys(m.Open), func(a, b *replica.Transaction) int { return cmp.Compare(a.Session.Key, b.Session.Key) })
	for _, t := range open {
		docs = append(docs, idleTransaction(t, m.Addr))
	}
	return docs
}

func idleTransaction(t *replica.Transaction, host string) []byte {
	whole, dst := wire.BeginDocument(nil)
	dst = wire.AppendString(wire.AppendString(dst, "type", "idleSession"), "host", host)
	dst = wire.AppendString(wire.AppendString(dst, "desc", "inactive transaction"), "client", t.Use.Address)
	dst = wire.AppendInt64(dst, "connectionId", t.Use.Connection)
	if t.Use.App != "" {
		dst = wire.AppendString(dst, "appName", t.Use.App)
	}
	dst = appendSessionID(dst, "lsid", t.Session.Key)
	dst = appendTransaction(dst, t)
	dst = wire.AppendBool(wire.AppendBool(dst, "waitingForLock", false), "active", false)
	dst = wire.AppendDocument(wire.AppendDocument(dst, "locks", query.EmptyDocument), "lockStats", query.EmptyDocument)
	return wire.EndDocument(dst, whole)
}

func appendTransaction(dst []byte, t *replica.Transaction) []byte {
	const layout = "2006-01-02T15:04:05.000-07:00"
	open := time.Since(t.Use.Began).Microseconds()
	whole, dst := wire.BeginEmbedded(dst, "transaction")
	at, dst := wire.BeginEmbedded(dst, "parameters")
	dst = wire.AppendBool(wire.AppendInt64(dst, "txnNumber", t.Number), "autocommit", false)
	if concern := query.Lookup(t.Use.Command, "readConcern"); concern.IsDocument() {
		dst = wire.AppendDocument(dst, "readConcern", concern.Data)
	}
	dst = wire.EndDocument(dst, at)
	dst = wire.AppendTimestamp(dst, "readTimestamp", 0, 0)
	dst = wire.AppendString(dst, "startWallClockTime", t.Use.Began.UTC().Format(layout))
	dst = wire.AppendInt64(wire.AppendInt64(dst, "timeOpenMicros", open), "timeActiveMicros", 0)
	dst = wire.AppendInt64(dst, "timeInactiveMicros", open)
	dst = wire.AppendString(dst, "expiryTime", t.Use.Began.Add(t.Lifetime).UTC().Format(layout))
	return wire.EndDocument(dst, whole)
}
