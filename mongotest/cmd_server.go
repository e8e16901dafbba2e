package mongotest

import (
	"net"
	"runtime"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// process is the name of the program that the server stands for.
func (s *server) program() string {
	if s.mongos != nil {
		return "mongos"
	}
	return "mongod"
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
