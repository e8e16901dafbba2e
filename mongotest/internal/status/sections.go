package status

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// The functions below write the fields of sections of serverStatus, with the names and the types of the real server.
// https://www.mongodb.com/docs/manual/reference/command/serverStatus/

// Asserts writes how many errors clients got. The other kinds of errors are a real server's own defects.
func (c *Counts) Asserts(dst []byte) []byte {
	dst = zeros(dst, "regular", "warning", "msg")
	dst = wire.AppendInt32(dst, "user", clamp(c.Errors.Load()))
	return zeros(dst, "tripwire", "rollovers")
}

// Connections writes how many there are and were. A server takes any number of them.
func (c *Counts) Connections(dst []byte, current, created int) []byte {
	dst = wire.AppendInt32(dst, "current", clamp(int64(current)))
	dst = wire.AppendInt32(dst, "available", math.MaxInt32-clamp(int64(current)))
	dst = wire.AppendInt32(dst, "totalCreated", clamp(int64(created)))
	dst = wire.AppendInt32(dst, "rejected", clamp(c.Rejected.Load()))
	dst = wire.AppendInt32(dst, "active", clamp(c.Serving.Load()-c.Awaiting.Load()))
	dst = wire.AppendInt32(dst, "threaded", clamp(int64(current)))
	return wire.AppendInt64(dst, "awaitingTopologyChanges", c.Awaiting.Load())
}

// GlobalLock writes how many commands on data are executed. None waits in a queue: all take turns.
func (c *Counts) GlobalLock(dst []byte, up time.Duration) []byte {
	dst = wire.AppendInt64(dst, "totalTime", up.Microseconds())
	dst = readersAndWriters(dst, "currentQueue", 0, 0)
	return readersAndWriters(dst, "activeClients", c.Readers.Load(), c.Writers.Load())
}

func readersAndWriters(dst []byte, name string, readers, writers int64) []byte {
	at, dst := wire.BeginEmbedded(dst, name)
	dst = wire.AppendInt64(dst, "total", readers+writers)
	dst = wire.AppendInt64(dst, "readers", readers)
	return wire.EndDocument(wire.AppendInt64(dst, "writers", writers), at)
}

// Memory writes how much memory the process has from its system, in MiB.
func Memory(dst []byte) []byte {
	total := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(total)
	virtual, released := total[0].Value.Uint64(), total[1].Value.Uint64()
	dst = wire.AppendInt32(dst, "bits", strconv.IntSize)
	dst = wire.AppendInt32(dst, "resident", clamp(int64((virtual-released)>>20)))
	dst = wire.AppendInt32(dst, "virtual", clamp(int64(virtual>>20)))
	return wire.AppendBool(dst, "supported", true)
}

// Network writes how much came and went.
func (c *Counts) Network(dst []byte) []byte {
	dst = wire.AppendInt64(dst, "bytesIn", c.In.Load())
	dst = wire.AppendInt64(dst, "bytesOut", c.Out.Load())
	dst = wire.AppendInt64(dst, "physicalBytesIn", c.RawIn.Load())
	dst = wire.AppendInt64(dst, "physicalBytesOut", c.RawOut.Load())
	return wire.AppendInt64(dst, "numRequests", c.Requests.Load())
}

// Operations writes how many of each kind there were. Older servers have no kind of their own for aggregations.
func (c *Counts) Operations(dst []byte, aggregations bool) []byte {
	for k := range kinds {
		if k != Aggregate || aggregations {
			dst = wire.AppendInt64(dst, names[k], c.operations[k].Load())
		}
	}
	return dst
}

// Cache writes what tools read of the storage engine's cache. It holds all documents and never writes them anywhere.
func Cache(dst []byte, bytes, pages int64) []byte {
	at, dst := wire.BeginEmbedded(dst, "cache")
	dst = query.AppendSmallest(dst, "bytes currently in the cache", bytes)
	dst = zeros(dst, "bytes read into cache", "bytes written from cache")
	dst = query.AppendSmallest(dst, "maximum bytes configured", debug.SetMemoryLimit(-1))
	dst = zeros(dst, "modified pages evicted", "pages evicted by application threads")
	dst = query.AppendSmallest(dst, "pages currently held in the cache", pages)
	dst = zeros(dst, "pages read into cache", "pages written from cache", "percentage overhead")
	dst = zeros(dst, "tracked bytes belonging to internal pages in the cache")
	dst = query.AppendSmallest(dst, "tracked bytes belonging to leaf pages in the cache", bytes)
	dst = zeros(dst, "tracked dirty bytes in the cache", "tracked dirty pages in the cache", "unmodified pages evicted")
	return wire.EndDocument(dst, at)
}

func zeros(dst []byte, names ...string) []byte {
	for _, name := range names {
		dst = wire.AppendInt32(dst, name, 0)
	}
	return dst
}

// clamp makes a field of 32 bits of a number.
func clamp(n int64) int32 { return int32(max(0, min(n, math.MaxInt32))) }
