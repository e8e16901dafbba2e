package logging

import (
	"encoding/json"
	"io"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// jsonSink writes each message as one line of JSON with the field timestamp, in nanoseconds since 1970. It is the sink of
// a client that was given none. It is safe for concurrent use.
type jsonSink struct {
	mu  sync.Mutex
	out *json.Encoder
}

var _ options.LogSink = (*jsonSink)(nil)

func newJSONSink(out io.Writer) *jsonSink { return &jsonSink{out: json.NewEncoder(out)} }

// Info writes a message. The level is not written, as by the official client.
func (s *jsonSink) Info(_ int, message string, fields ...any) {
	line := map[string]any{"timestamp": time.Now().UnixNano(), "message": message}
	for i := 0; i+1 < len(fields); i += 2 {
		if key, ok := fields[i].(string); ok {
			line[key] = fields[i+1]
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.out.Encode(line) // nobody could be told
}

// Error writes a message with the field error.
func (s *jsonSink) Error(err error, message string, fields ...any) {
	s.Info(0, message, append(fields, "error", err.Error())...)
}
