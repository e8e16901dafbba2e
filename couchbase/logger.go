package couchbase

import (
	"fmt"
	"log"
	"os"
	"sync/atomic"
)

// LogLevel is the weight of a log line.
type LogLevel int

// The levels. A logger prints those up to its own.
const (
	LogError        LogLevel = 0
	LogWarn         LogLevel = 1
	LogInfo         LogLevel = 2 // the reports of slow operations, orphans and metrics; refused retries
	LogDebug        LogLevel = 3 // each failed attempt, each retry, and each operation that failed by an answer such as "document not found"
	LogTrace        LogLevel = 4
	LogSched        LogLevel = 5
	LogMaxVerbosity LogLevel = 6
)

// Logger receives the log lines of all clusters of the program. It must be safe for concurrent use.
type Logger interface {
	// Log prints a line. offset is the number of stack frames between the caller and the place that the line is about.
	Log(level LogLevel, offset int, format string, v ...any) error
}

var currentLogger atomic.Pointer[Logger]

// SetLogger sets the logger of the program, also for the clusters that are there; nil means none, as at the beginning.
func SetLogger(logger Logger) {
	if logger == nil {
		currentLogger.Store(nil)
		return
	}
	currentLogger.Store(&logger)
}

// LogRedactLevel says which parts of log lines are marked, so that they can be removed later: data of users as <ud>, names and
// addresses of the cluster as <md>.
type LogRedactLevel uint

// The levels.
const (
	RedactNone    LogRedactLevel = iota // nothing is marked
	RedactPartial                       // data of users
	RedactFull                          // data of users, names and addresses
)

var redactLevel atomic.Uint64

// SetLogRedactionLevel sets the level for the program. At the beginning it is RedactNone.
func SetLogRedactionLevel(level LogRedactLevel) { redactLevel.Store(uint64(level)) }

// userData marks data of users in a log line.
func userData(v any) string {
	if LogRedactLevel(redactLevel.Load()) < RedactPartial {
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("<ud>%v</ud>", v)
}

// metaData marks a name or an address of the cluster in a log line.
func metaData(v any) string {
	if LogRedactLevel(redactLevel.Load()) < RedactFull {
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("<md>%v</md>", v)
}

// logf prints a line, if there is a logger.
func logf(level LogLevel, format string, v ...any) {
	if logger := currentLogger.Load(); logger != nil {
		_ = (*logger).Log(level, 1, format, v...) // nobody could be told of a log that fails
	}
}

// stdioLogger prints lines to standard error.
type stdioLogger struct {
	level  LogLevel
	logger *log.Logger
}

func (l *stdioLogger) Log(level LogLevel, offset int, format string, v ...any) error {
	if level > l.level {
		return nil
	}
	return l.logger.Output(offset+2, fmt.Sprintf(format, v...))
}

// DefaultStdioLogger returns a logger that prints lines up to LogDebug to standard error.
func DefaultStdioLogger() Logger { return newStdioLogger(LogDebug) }

// VerboseStdioLogger returns a logger that prints all lines to standard error.
func VerboseStdioLogger() Logger { return newStdioLogger(LogMaxVerbosity) }

func newStdioLogger(level LogLevel) Logger {
	return &stdioLogger{level: level, logger: log.New(os.Stderr, "couchbase ", log.Lmicroseconds|log.Lshortfile)}
}
