package router

import (
	"bytes"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// route is what the router does with a command.
type route uint8

const (
	// once: it goes to the primary. What was sent is not sent again.
	once route = iota
	// reads: it goes to the primary, and changes nothing, so it may be sent again.
	reads
	// readsAnywhere: it goes where its read preference says, and may be sent again.
	readsAnywhere
	// writesOne: each of its statements changes at most one document, so it may be sent again with the number of a retryable write.
	writesOne
	// ends: it ends a transaction. A server answers it again as it did before.
	ends
	// leaves: it ends sessions, as a client does when it leaves. It goes to the primary if there is one, else to a secondary.
	leaves
)

// routes has the commands that are not sent once only. Those that read anywhere are the list of the read preferences document of 2014,
// with find added; whether the fields of a command keep it among them says routeOf.
var routes = map[string]route{
	"find": readsAnywhere, "aggregate": readsAnywhere, "count": readsAnywhere, "distinct": readsAnywhere, "group": readsAnywhere,
	"mapReduce": readsAnywhere, "mapreduce": readsAnywhere, "collStats": readsAnywhere, "collstats": readsAnywhere, "dbStats": readsAnywhere,
	"dbstats": readsAnywhere, "geoNear": readsAnywhere, "geoSearch": readsAnywhere, "geoWalk": readsAnywhere, "text": readsAnywhere,
	"parallelCollectionScan": readsAnywhere,

	"listCollections": reads, "listDatabases": reads, "listIndexes": reads, "explain": reads, "buildInfo": reads, "buildinfo": reads,
	"getParameter": reads, "serverStatus": reads, "connectionStatus": reads, "hostInfo": reads, "dataSize": reads, "datasize": reads,
	"dbHash": reads, "dbhash": reads, "usersInfo": reads, "rolesInfo": reads, "getCmdLineOpts": reads, "listCommands": reads,

	"insert": writesOne, "update": writesOne, "delete": writesOne, "findAndModify": writesOne, "findandmodify": writesOne, "bulkWrite": writesOne,

	"commitTransaction": ends, "abortTransaction": ends,

	"endSessions": leaves,
}

// routeOf returns the route of a command.
func routeOf(c *command) route {
	r := routes[c.Name]
	switch {
	case c.old != nil && c.old.explained:
		return readsAnywhere
	case c.transaction && r != ends:
		return once
	case r == readsAnywhere && writesOutput(c):
		return once
	case r == writesOne && (c.unacknowledged || c.Unanswered()):
		return once
	case r == writesOne && !c.numbered && changesMany(c):
		return once
	}
	return r
}

// writesOutput reports whether an aggregation or a mapReduce writes its result into a collection.
func writesOutput(c *command) bool {
	switch c.Name {
	case "aggregate":
		stage := lastStage(c.Body)
		return bytes.Equal(stage, []byte("$out")) || bytes.Equal(stage, []byte("$merge"))
	case "mapReduce", "mapreduce":
		return !inline(c.Body)
	}
	return false
}

// lastStage returns the name of the last stage of an aggregation, nil if there is none.
func lastStage(body []byte) []byte {
	var name []byte
	pipeline := field(body, "pipeline")
	for it := wire.Elements(pipeline.Array()); it.Next(); {
		stage := wire.Elements(it.Document())
		if name = nil; stage.Next() {
			name = stage.Key
		}
	}
	return name
}

// inline reports whether the field out of a mapReduce is {inline: 1}.
func inline(body []byte) bool {
	out := field(body, "out")
	it := wire.Elements(out.Document())
	return it.Next() && string(it.Key) == "inline"
}

// changesMany reports whether a statement of a write may change several documents.
func changesMany(c *command) bool {
	var list, name string
	switch c.Name {
	case "update":
		list, name = "updates", "multi"
	case "delete":
		list, name = "deletes", "limit"
	case "bulkWrite":
		list, name = "ops", "multi"
	default:
		return false
	}
	statements := field(c.Body, list)
	for it := wire.Elements(statements.Array()); it.Next(); {
		if statementChangesMany(it.Document(), name) {
			return true
		}
	}
	for _, s := range c.Sequences {
		if string(s.Identifier) != list {
			continue
		}
		for statement := range s.All() {
			if statementChangesMany(statement, name) {
				return true
			}
		}
	}
	return false
}

// statementChangesMany looks at the field multi of a statement, or at the limit of a delete.
func statementChangesMany(statement []byte, name string) bool {
	e := field(statement, name)
	if name == "limit" {
		n, _ := e.Int64()
		return n != 1
	}
	no, number := e.Int64()
	return e.Type != 0 && (!number || no != 0) // servers take more types for true than a boolean
}

// field returns a field of a document. Its value is empty if there is none.
func field(document []byte, name string) wire.Element {
	for it := wire.Elements(document); it.Next(); {
		if string(it.Key) == name {
			return it.Element
		}
	}
	return wire.Element{}
}
