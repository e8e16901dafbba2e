package mongotest

import (
	"net"
	"os"
	"runtime"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/admin"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/serverStatus/

// Of the status only what this server knows is told; a section that is asked for or declined is neither added nor left out.
func cmdServerStatus(x *exec) error {
	x.Result.Out = call.WithLock(&x.Call, func(l call.Locked) []byte { return serverStatus(x, l) })
	return nil
}

func serverStatus(x *exec, l call.Locked) []byte {
	rs, s := x.conn.deployment, x.conn.server
	up := time.Since(s.process.Started)
	dst := wire.AppendString(x.Result.Out, "host", s.process.Addr)
	dst = wire.AppendString(dst, "version", rs.config.version.String())
	dst = wire.AppendString(dst, "process", s.program())
	dst = wire.AppendInt64(dst, "pid", int64(os.Getpid()))
	dst = wire.AppendDouble(dst, "uptime", up.Truncate(time.Second).Seconds())
	dst = wire.AppendInt64(dst, "uptimeMillis", up.Milliseconds())
	dst = wire.AppendInt64(dst, "uptimeEstimate", int64(up.Seconds()))
	dst = wire.AppendDateTime(dst, "localTime", time.Now().UnixMilli())
	at, dst := wire.BeginEmbedded(dst, "connections")
	dst = wire.AppendInt32(dst, "current", int32(len(s.conns)))
	dst = wire.AppendInt32(dst, "totalCreated", int32(s.accepted))
	dst = wire.EndDocument(dst, at)
	at, dst = wire.BeginEmbedded(dst, "metrics")
	cursor, dst := wire.BeginEmbedded(dst, "cursor")
	open, dst := wire.BeginEmbedded(dst, "open")
	dst = wire.AppendInt64(dst, "total", int64(s.cursors()))
	dst = wire.EndDocument(wire.EndDocument(dst, open), cursor)
	ttl, dst := wire.BeginEmbedded(dst, "ttl")
	dst = wire.AppendInt64(wire.AppendInt64(dst, "deletedDocuments", rs.set.Expiration.Deleted), "passes", rs.set.Expiration.Passes)
	dst = wire.EndDocument(wire.EndDocument(dst, ttl), at)
	if s.mongos == nil && !rs.config.standalone {
		at, dst = wire.BeginEmbedded(dst, "repl")
		dst = wire.EndDocument(admin.AppendMembership(l, dst, "isWritablePrimary"), at)
	}
	at, dst = wire.BeginEmbedded(dst, "storageEngine")
	dst = wire.AppendString(dst, "name", "mongotest")
	dst = wire.AppendBool(dst, "supportsCommittedReads", true)
	dst = wire.AppendBool(dst, "persistent", false)
	return wire.EndDocument(dst, at)
}

// process is the name of the program that the server stands for.
func (s *server) program() string {
	if s.mongos != nil {
		return "mongos"
	}
	return "mongod"
}

// cursors returns how many are open.
func (s *server) cursors() int {
	if s.mongos != nil {
		return len(s.mongos.Cursors)
	}
	return len(s.member.Cursors)
}

// https://www.mongodb.com/docs/manual/reference/command/getCmdLineOpts/

func cmdGetCmdLineOpts(x *exec) error {
	if err := x.AdminOnly(); err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(x.conn.Process.Addr)
	argv := []string{x.conn.server.program(), "--port", port}
	if x.conn.mongos == nil && !x.conn.Set.Standalone {
		argv = append(argv, "--replSet", x.conn.deployment.config.setName)
	}
	dst := wire.AppendStrings(x.Result.Out, "argv", argv)
	parsed, dst := wire.BeginEmbedded(dst, "parsed")
	at, dst := wire.BeginEmbedded(dst, "net")
	dst = wire.EndDocument(wire.AppendString(dst, "port", port), at)
	if x.conn.mongos == nil && !x.conn.Set.Standalone {
		at, dst = wire.BeginEmbedded(dst, "replication")
		dst = wire.EndDocument(wire.AppendString(dst, "replSet", x.conn.deployment.config.setName), at)
	}
	x.Result.Out = wire.EndDocument(dst, parsed)
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/hostInfo/

func cmdHostInfo(x *exec) error {
	if err := x.NoArgs(); err != nil {
		return err
	}
	host, _, _ := net.SplitHostPort(x.conn.Process.Addr)
	at, dst := wire.BeginEmbedded(x.Result.Out, "system")
	dst = wire.AppendDateTime(dst, "currentTime", time.Now().UnixMilli())
	dst = wire.AppendString(dst, "hostname", host)
	dst = wire.AppendInt32(dst, "cpuAddrSize", 64)
	dst = wire.AppendInt32(dst, "numCores", int32(runtime.NumCPU()))
	dst = wire.AppendString(dst, "cpuArch", runtime.GOARCH)
	dst = wire.EndDocument(dst, at)
	at, dst = wire.BeginEmbedded(dst, "os")
	dst = wire.EndDocument(wire.AppendString(dst, "type", runtime.GOOS), at)
	x.Result.Out = wire.AppendDocument(dst, "extra", query.EmptyDocument)
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/getLog/

// The log is the journal, as far as it concerns the member.
func cmdGetLog(x *exec) error {
	if err := x.AdminOnly(); err != nil {
		return err
	}
	if x.Command.First.Type != bson.TypeString {
		return fields.WrongType("getLog", "getLog", x.Command.First.Type, "string")
	}
	var lines []string
	switch name := string(x.Command.First.Text()); name {
	case "*":
		x.Result.Out = wire.AppendStrings(x.Result.Out, "names", []string{"global", "startupWarnings"})
		return nil
	case "global":
		for _, e := range x.conn.deployment.Journal() {
			if e.Member == x.MemberIndex() {
				lines = append(lines, e.String())
			}
		}
		lines = lines[max(0, len(lines)-logLines):]
	case "startupWarnings":
	default:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "no RamLog named: %s", name)
	}
	x.Result.Out = wire.AppendInt32(x.Result.Out, "totalLinesWritten", int32(len(lines)))
	x.Result.Out = wire.AppendStrings(x.Result.Out, "log", lines)
	return nil
}

// logLines is how many lines getLog has at most.
const logLines = 1024

// whatsmyuri tells a client from where it is seen.
func cmdWhatsMyURI(x *exec) error {
	x.Result.Out = wire.AppendString(x.Result.Out, "you", x.conn.Plain.RemoteAddr().String())
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/listCommands/

// https://www.mongodb.com/docs/manual/reference/command/profile/

// https://www.mongodb.com/docs/manual/reference/command/appendOplogNote/
