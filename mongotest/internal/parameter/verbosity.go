package parameter

import (
	"math"
	"strings"
	"sync"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/log-messages/#log-verbosity-levels

// The parameters that say how much is logged: the level for all components, and a document with the level of each.
const (
	logLevel      = "logLevel"
	logComponents = "logComponentVerbosity"
)

const (
	inherited = -1 // the component has the level of the one around it
	mostLevel = 5
)

// components are the components of the newest server, each followed by those within it.
const components = `accessControl assert command ( slowInProgress ) control executor geo index
	network ( asio bridge opMsg connectionPool ) processHealth query ( optimizer ce rejected ) queryStats
	replication ( election heartbeats initialSync rollback )
	sharding ( rangeDeleter shardingCatalogRefresh migration reshard migrationPerf )
	storage ( recovery journal wt ( wtBackup wtCheckpoint wtCheckpointCleanup wtCompact wtDisagg wtEviction wtFileOps wtHS wtLiveRestore
	wtRecovery wtRTS wtSalvage wtTiered wtTimestamp wtTransaction wtVerify wtWriteLog ) magicRestore )
	write ftdc transaction test resourceConsumption streams disaggregatedStorage extension ( extensionMongot ) trafficRecorder`

// quietest returns the levels of the components before any is set: all inherit 0. It is made once: each start of a server needs it.
var quietest = sync.OnceValue(func() query.Value {
	at, doc := wire.BeginDocument(nil)
	doc = wire.AppendInt32(doc, "verbosity", 0)
	words := strings.Fields(components)
	doc, _ = appendComponents(doc, words)
	return query.Document(wire.EndDocument(doc, at))
})

// appendComponents writes components up to a closing parenthesis, and returns the words behind it.
func appendComponents(doc []byte, words []string) ([]byte, []string) {
	for len(words) > 0 && words[0] != ")" {
		at, d := wire.BeginEmbedded(doc, words[0])
		d = wire.AppendInt32(d, "verbosity", inherited)
		words = words[1:]
		if len(words) > 0 && words[0] == "(" {
			d, words = appendComponents(d, words[1:])
			words = words[1:]
		}
		doc = wire.EndDocument(d, at)
	}
	return doc, words
}

// levels are the levels to set, each by the path of its component. The path "" stands for all components.
type levels map[string]int32

// readLevels reads which levels of the components known a document sets.
func readLevels(known, v query.Value) (levels, error) {
	if !v.IsDocument() && !v.IsArray() {
		return nil, mongoerr.Errorf(mongoerr.TypeMismatch, "log component verbosity is not a BSON object: %s: %s", logComponents, v)
	}
	set := make(levels)
	return set, set.read("", known.Data, v.Data)
}

// read reads the document of a component: its own level, and what is within it, as a level or as a document.
func (s levels) read(path string, known, doc []byte) error {
	shown := path
	if path == "" {
		shown = "default"
	}
	it := wire.Elements(doc)
	for it.Next() {
		name, v := string(it.Key), query.Of(it.Element)
		within := query.Lookup(known, name)
		inner := strings.TrimPrefix(path+"."+name, ".")
		switch {
		case name == "verbosity":
			inner = path
			fallthrough
		case within.IsDocument() && v.IsNumber():
			n, err := level(shown+"."+name, v)
			if err != nil {
				return err
			}
			s[inner] = n
		case !within.IsDocument():
			return mongoerr.Errorf(mongoerr.BadValue, "Invalid component name %s.%s", shown, name)
		case !v.IsDocument():
			return mongoerr.Errorf(mongoerr.BadValue, "Invalid type %sfor component %s.%s", query.TypeName(v.Type), shown, name)
		default:
			if err := s.read(inner, within.Data, v.Data); err != nil {
				return err
			}
		}
	}
	return nil
}

// level returns the level that a value says, the highest for one above it.
func level(shown string, v query.Value) (int32, error) {
	n, err := integral(v)
	if err == nil && n != int64(int32(n)) {
		err = errBounds
	}
	switch {
	case err != nil:
		return 0, mongoerr.Errorf(mongoerr.BadValue, "Expected %s to be safely cast to integer, but could not: %v", shown, err)
	case n < inherited:
		return 0, mongoerr.Errorf(mongoerr.BadValue, "Expected %s to be greater than or equal to %d, but found %d", shown, inherited, n)
	}
	return int32(min(n, mostLevel)), nil
}

// applied returns a component's document with the levels that are set.
func (s levels) applied(path string, doc []byte) []byte {
	at, dst := wire.BeginDocument(nil)
	it := wire.Elements(doc)
	for it.Next() {
		name := string(it.Key)
		n, ok := s[path]
		switch {
		case name != "verbosity":
			inner := strings.TrimPrefix(path+"."+name, ".")
			dst = wire.AppendDocument(dst, name, s.applied(inner, it.Value))
		case ok && path == "":
			dst = wire.AppendInt32(dst, name, max(0, n)) // no component is around it, from which it could inherit
		case ok:
			dst = wire.AppendInt32(dst, name, n)
		default:
			dst = wire.AppendValue(dst, name, it.Type, it.Value)
		}
	}
	return wire.EndDocument(dst, at)
}

// coercedLevel returns a value of the parameter logLevel.
func coercedLevel(v query.Value) (query.Value, error) {
	n, err := integral(v)
	if err != nil || n < 0 || n > math.MaxInt32 {
		return v, mongoerr.Errorf(mongoerr.BadValue, "Invalid value for %s: %s: %s", logLevel, logLevel, v)
	}
	return query.Int32(int32(min(n, mostLevel))), nil
}
