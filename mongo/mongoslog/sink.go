// Package mongoslog writes the client's log messages with log/slog.
//
//	opts := options.Client().ApplyURI(uri).SetLoggerOptions(options.Logger().
//		SetSink(mongoslog.New(nil)).
//		SetComponentLevel(options.LogComponentAll, options.LogLevelInfo))
package mongoslog

import (
	"context"
	"log/slog"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// New returns a sink for options.LoggerOptions that writes to logger, or to slog.Default() if logger is nil. The client's
// level info is [slog.LevelInfo], its level debug is [slog.LevelDebug]. The keys and values of a message become attributes; the
// key "message", which repeats the text, is left out. Which messages there are, the component levels of LoggerOptions decide,
// and then the handler of logger. The sink is safe for concurrent use.
func New(logger *slog.Logger) options.LogSink { return sink{logger} }

type sink struct{ logger *slog.Logger }

// Info implements [options.LogSink]. Level 0 is info; the levels above it are debug.
func (s sink) Info(level int, message string, keysAndValues ...any) {
	at := slog.LevelInfo
	if level > 0 {
		at = slog.LevelDebug
	}
	s.log(at, message, keysAndValues)
}

// Error implements [options.LogSink]. The error becomes the attribute "error".
func (s sink) Error(err error, message string, keysAndValues ...any) {
	s.log(slog.LevelError, message, append(keysAndValues[:len(keysAndValues):len(keysAndValues)], "error", err))
}

func (s sink) log(level slog.Level, message string, keysAndValues []any) {
	logger := s.logger
	if logger == nil {
		logger = slog.Default()
	}
	ctx := context.Background() // a LogSink gets no context
	if !logger.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, len(keysAndValues)/2)
	for i := 0; i+1 < len(keysAndValues); i += 2 {
		if key, ok := keysAndValues[i].(string); ok && key != "message" {
			attrs = append(attrs, slog.Any(key, keysAndValues[i+1]))
		}
	}
	logger.LogAttrs(ctx, level, message, attrs...)
}
