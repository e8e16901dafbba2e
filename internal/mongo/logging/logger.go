// Package logging writes the log messages of the MongoDB specifications to the sink of the official LoggerOptions. The
// packages that log decide which messages there are; this one knows components, levels, the environment variables of the
// Logging specification, and how documents are shown.
//
// Begin with logger.go. Then config.go (options and environment), jsonsink.go, shortened.go.
package logging

import (
	"net"
	"strconv"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// The components and levels have the values of the official options.
const (
	Command         = options.LogComponentCommand
	Topology        = options.LogComponentTopology
	ServerSelection = options.LogComponentServerSelection
	Connection      = options.LogComponentConnection

	Info  = options.LogLevelInfo
	Debug = options.LogLevelDebug
)

const components = Connection + 1

// defaultMaxDocumentLength is the Logging specification's.
const defaultMaxDocumentLength = 1000

// Logger writes log messages. It is safe for concurrent use if its sink is. A nil Logger writes nothing.
type Logger struct {
	sink      options.LogSink
	levels    [components]options.LogLevel
	maxLength int
	close     func()
}

// Enabled reports whether messages of a component and level are written. Nothing should be formatted for others.
func (l *Logger) Enabled(c options.LogComponent, level options.LogLevel) bool {
	return l != nil && l.levels[c] >= level
}

// Log writes a message with its fields, keys and values in turn, if the level is enabled. Like the official client it
// gives the message as a field too. The sink gets level 0 for Info and 1 for Debug.
func (l *Logger) Log(c options.LogComponent, level options.LogLevel, message string, fields ...any) {
	if l.Enabled(c, level) {
		l.sink.Info(int(level-Info), message, append(fields, "message", message)...)
	}
}

// Close closes the log file, if there is one.
func (l *Logger) Close() {
	if l != nil && l.close != nil {
		l.close()
	}
}

// Document returns a document as relaxed extended JSON, cut off after the maximum length.
func (l *Logger) Document(doc bson.Raw) string {
	if len(doc) == 0 {
		return "{}"
	}
	text, err := bson.MarshalExtJSON(shortened(doc, l.maxLength), false, false)
	if err != nil {
		return "{}"
	}
	return l.cut(string(text))
}

// cut shortens a text to the maximum length, in bytes, at the end of a character.
func (l *Logger) cut(text string) string {
	if len(text) <= l.maxLength {
		return text
	}
	end := l.maxLength
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "..."
}

// Endpoint appends the fields serverHost and, unless the address is a Unix domain socket's, serverPort.
func Endpoint(fields []any, address string) []any {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return append(fields, "serverHost", address)
	}
	fields = append(fields, "serverHost", host)
	if n, err := strconv.ParseInt(port, 10, 32); err == nil {
		fields = append(fields, "serverPort", n)
	}
	return fields
}

// Milliseconds returns a duration as the fields durationMS and remainingTimeMS have it.
func Milliseconds(d time.Duration) int64 { return d.Milliseconds() }
