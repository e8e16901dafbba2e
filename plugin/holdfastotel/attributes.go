package holdfastotel

import (
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"strconv"

	"go.opentelemetry.io/otel/attribute"

	"github.com/holdfast-db/holdfast/telemetry"
	"github.com/holdfast-db/holdfast/telemetry/metrics"
)

var systemMongoDB = attribute.String("db.system.name", string(telemetry.MongoDB))

// summary is the text that names what is done, and to what: "find shop.orders", or "listDatabases admin".
func summary(name, namespace, collection string) string {
	if collection == "" {
		return name + " " + namespace
	}
	return name + " " + namespace + "." + collection
}

func ofNamespace(system telemetry.System, namespace, collection string) []attribute.KeyValue {
	list := append(make([]attribute.KeyValue, 0, 10), attribute.String("db.system.name", string(system)), attribute.String("db.namespace", namespace))
	if collection != "" {
		list = append(list, attribute.String("db.collection.name", collection))
	}
	return list
}

// ofAttempt adds to the attributes of the message those that this attempt has.
func ofAttempt(message []attribute.KeyValue, a *telemetry.Attempt, maxLength int) []attribute.KeyValue {
	const usual = 4 // most attempts have no more
	list := append(make([]attribute.KeyValue, 0, len(message)+usual), message...)
	list = append(list, attribute.Int64("db.mongodb.driver_connection_id", a.Connection.ID))
	if a.Batch > 1 { // the conventions: never 1
		list = append(list, attribute.Int("db.operation.batch.size", a.Batch))
	}
	if id := a.Connection.ServerID; id != nil {
		list = append(list, attribute.Int64("db.mongodb.server_connection_id", *id))
	}
	if a.Cursor != 0 {
		list = append(list, cursorID(a.Cursor))
	}
	if len(a.Session) > 0 {
		list = append(list, attribute.String("db.mongodb.lsid", sessionText(a.Session)))
	}
	if a.TransactionNumber != 0 {
		list = append(list, attribute.Int64("db.mongodb.txn_number", a.TransactionNumber))
	}
	if maxLength > 0 {
		list = append(list, attribute.String("db.query.text", queryText(a.Command(), maxLength)))
	}
	return list
}

// ofAddress are the attributes of a server's "host:port", or of the path of a Unix domain socket.
func ofAddress(address string) []attribute.KeyValue {
	host, port := metrics.Server(address)
	if port == "" {
		return []attribute.KeyValue{attribute.String("server.address", host), attribute.String("network.transport", "unix")}
	}
	return []attribute.KeyValue{attribute.String("server.address", host), attributeOf("server.port", port), attribute.String("network.transport", "tcp")}
}

// attributeOf is an attribute with a value that is given as text. Ports are numbers.
func attributeOf(name, value string) attribute.KeyValue {
	if name == "server.port" {
		port, _ := strconv.ParseInt(value, 10, 64)
		return attribute.Int64(name, port)
	}
	return attribute.String(name, value)
}

func cursorID(id int64) attribute.KeyValue { return attribute.Int64("db.mongodb.cursor_id", id) }

// sessionText is the UUID of a session as text.
func sessionText(id []byte) string {
	if len(id) != 16 {
		return hex.EncodeToString(id)
	}
	text := make([]byte, 0, 36)
	for i, part := range [][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:]} {
		if i > 0 {
			text = append(text, '-')
		}
		text = hex.AppendEncode(text, part)
	}
	return string(text)
}

// statusCode is the code of a server's error as text, empty for none.
func statusCode(code int32) string {
	if code == 0 {
		return ""
	}
	return strconv.Itoa(int(code))
}

func responseStatus(code string) attribute.KeyValue {
	return attribute.String("db.response.status_code", code)
}

// errorType is the code of the server's error or, without one, the type of the error in Go.
func errorType(err error, code string) attribute.KeyValue {
	if code == "" {
		code = fmt.Sprintf("%T", err)
	}
	return attribute.String("error.type", code)
}

func exception(err error) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("exception.message", err.Error()), attribute.String("exception.type", fmt.Sprintf("%T", err)),
		attribute.String("exception.stacktrace", string(debug.Stack())),
	}
}
