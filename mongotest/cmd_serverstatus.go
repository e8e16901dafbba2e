package mongotest

import (
	"os"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/admin"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/status"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/serverStatus/

// Of the status only what this server knows is told.
func cmdServerStatus(x *exec) error {
	x.Result.Out = call.WithLock(&x.Call, func(l call.Locked) []byte { return serverStatus(x, l) })
	return nil
}

func serverStatus(x *exec, l call.Locked) []byte {
	s := x.conn.server
	up := time.Since(s.process.Started)
	dst := wire.AppendString(x.Result.Out, "host", s.process.Addr)
	dst = wire.AppendString(dst, "version", x.conn.deployment.config.version.String())
	dst = wire.AppendString(dst, "process", s.program())
	dst = wire.AppendInt64(dst, "pid", int64(os.Getpid()))
	dst = wire.AppendDouble(dst, "uptime", up.Truncate(time.Second).Seconds())
	dst = wire.AppendInt64(dst, "uptimeMillis", up.Milliseconds())
	dst = wire.AppendInt64(dst, "uptimeEstimate", int64(up.Seconds()))
	dst = wire.AppendDateTime(dst, "localTime", time.Now().UnixMilli())
	for _, section := range statusSections {
		if section.there(s) && wanted(x, section.by) {
			at, d := wire.BeginEmbedded(dst, section.name)
			dst = wire.EndDocument(section.write(s, l, d), at)
		}
	}
	return dst
}

// statusSection is a part of the status, which a command may ask for or decline by the name.
type statusSection struct {
	name, by string
	there    func(s *server) bool
	write    func(s *server, l call.Locked, dst []byte) []byte
}

// statusSections are in the order of the real server, where mem is one of the metrics.
var statusSections = []statusSection{
	{"asserts", "asserts", always, func(s *server, _ call.Locked, dst []byte) []byte { return s.counts.Asserts(dst) }},
	{"connections", "connections", always, func(s *server, _ call.Locked, dst []byte) []byte {
		return s.counts.Connections(dst, len(s.conns), s.accepted)
	}},
	{"globalLock", "globalLock", ofMember, func(s *server, _ call.Locked, dst []byte) []byte {
		return s.counts.GlobalLock(dst, time.Since(s.process.Started))
	}},
	{"network", "network", always, func(s *server, _ call.Locked, dst []byte) []byte { return s.counts.Network(dst) }},
	{"opcounters", "opcounters", always, func(s *server, _ call.Locked, dst []byte) []byte {
		return s.counts.Operations(dst, s.deployment.config.version.AtLeast(9, 0))
	}},
	{"repl", "repl", ofSet, func(_ *server, l call.Locked, dst []byte) []byte {
		return admin.AppendMembership(l, dst, "isWritablePrimary")
	}},
	{"storageEngine", "storageEngine", ofMember, storageStatus},
	{"wiredTiger", "wiredTiger", ofMember, cacheStatus},
	{"mem", "metrics", always, func(_ *server, _ call.Locked, dst []byte) []byte { return status.Memory(dst) }},
	{"metrics", "metrics", always, metricsStatus},
}

func always(*server) bool     { return true }
func ofMember(s *server) bool { return s.mongos == nil }
func ofSet(s *server) bool    { return s.mongos == nil && !s.deployment.config.standalone }

// wanted reports whether the command asks for a section: by its name, or by saying nothing of it and not "none".
func wanted(x *exec, section string) bool {
	if v := x.Arg(section); !v.Missing() {
		return query.Truth(v)
	}
	return !query.Truth(x.Arg("none"))
}

func storageStatus(_ *server, _ call.Locked, dst []byte) []byte {
	dst = wire.AppendString(dst, "name", "mongotest")
	dst = wire.AppendBool(dst, "supportsCommittedReads", true)
	return wire.AppendBool(dst, "persistent", false)
}

// cacheStatus has the name of the real server's storage engine, by which tools look for it.
func cacheStatus(_ *server, l call.Locked, dst []byte) []byte {
	var bytes, pages int64
	for _, c := range l.Client.Member.Data.Collections {
		bytes += c.Size
		pages += c.Storage() / store.PageSize
	}
	return status.Cache(dst, bytes, pages)
}

func metricsStatus(s *server, _ call.Locked, dst []byte) []byte {
	cursor, dst := wire.BeginEmbedded(dst, "cursor")
	open, dst := wire.BeginEmbedded(dst, "open")
	dst = wire.AppendInt64(dst, "total", int64(s.cursors()))
	dst = wire.EndDocument(wire.EndDocument(dst, open), cursor)
	expired := s.deployment.set.Expiration
	ttl, dst := wire.BeginEmbedded(dst, "ttl")
	return wire.EndDocument(wire.AppendInt64(wire.AppendInt64(dst, "deletedDocuments", expired.Deleted), "passes", expired.Passes), ttl)
}

// cursors returns how many are open.
func (s *server) cursors() int {
	if s.mongos != nil {
		return len(s.mongos.Cursors)
	}
	return len(s.member.Cursors)
}
