package unified

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// logged is a log message as a client wrote it.
type logged struct {
	level     string
	component string
	data      bson.RawValue // a document
}

// logSink keeps the messages of one client in its recorder.
type logSink struct{ recorder *recorder }

var _ options.LogSink = logSink{}

// Info implements [options.LogSink].
func (s logSink) Info(level int, message string, keysAndValues ...any) {
	data := bson.D{{Key: "message", Value: message}}
	for i := 0; i+1 < len(keysAndValues); i += 2 {
		if key := fmt.Sprint(keysAndValues[i]); key != "message" { // some messages repeat their text
			data = append(data, bson.E{Key: key, Value: keysAndValues[i+1]})
		}
	}
	v, err := resultValue(data)
	if err != nil {
		v, _ = resultValue(bson.D{{Key: "message", Value: message}, {Key: "unencodable", Value: err.Error()}})
	}
	s.recorder.keepLog(logged{level: []string{"info", "debug"}[min(level, 1)], component: componentOf(message), data: v})
}

// Error implements [options.LogSink].
func (s logSink) Error(err error, message string, keysAndValues ...any) {
	s.Info(0, message, append(keysAndValues, "error", err.Error())...)
}

// componentOf returns the component of a message: the sink is not told.
func componentOf(message string) string {
	for _, c := range []struct{ begin, component string }{
		{"Command ", "command"},
		{"Operation ", "command"},
		{"Connection ", "connection"},
		{"Server selection ", "serverSelection"},
		{"Waiting for suitable server ", "serverSelection"},
	} {
		if strings.HasPrefix(message, c.begin) {
			return c.component
		}
	}
	return "topology"
}

var logComponents = map[string]options.LogComponent{
	"command": options.LogComponentCommand, "connection": options.LogComponentConnection,
	"serverSelection": options.LogComponentServerSelection, "topology": options.LogComponentTopology,
}

// wholeDocuments is a length that no document of the suites has.
const wholeDocuments = 100_000

// attachLog makes the client log the components of observeLogMessages, at the levels that it names.
func (r *recorder) attachLog(opts *options.ClientOptions, observe bson.RawValue) error {
	if observe.Type == 0 {
		return nil
	}
	log := options.Logger().SetSink(logSink{r}).SetMaxDocumentLength(wholeDocuments)
	elements, err := observe.Document().Elements()
	if err != nil {
		return err
	}
	for _, e := range elements {
		component, known := logComponents[e.Key()]
		level := options.LogLevelInfo
		if name := e.Value().StringValue(); name == "debug" || name == "trace" {
			level = options.LogLevelDebug
		}
		if !known {
			return fmt.Errorf("observeLogMessages: the component %s is not supported by this runner", e.Key())
		}
		log.SetComponentLevel(component, level)
	}
	opts.SetLoggerOptions(log)
	return nil
}

func (r *recorder) keepLog(l logged) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopped {
		r.logs = append(r.logs, l)
	}
}

type expectedLogs struct {
	Client              string        `bson:"client"`
	IgnoreMessages      []expectedLog `bson:"ignoreMessages"`
	IgnoreExtraMessages bool          `bson:"ignoreExtraMessages"`
	Messages            []expectedLog `bson:"messages"`
}

type expectedLog struct {
	Level             string   `bson:"level"`
	Component         string   `bson:"component"`
	Data              bson.Raw `bson:"data"`
	FailureIsRedacted *bool    `bson:"failureIsRedacted"`
}

func (c *run) checkLogs() error {
	for _, want := range c.test.ExpectLogMessages {
		client, err := entityNamed[*clientEntity](c.entities, want.Client)
		if err != nil {
			return err
		}
		if err := (&matcher{c.entities}).matchLogs(&want, client.recorder.allLogs()); err != nil {
			return fmt.Errorf("%s: %w", want.Client, err)
		}
	}
	return nil
}

func (r *recorder) allLogs() []logged {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.logs)
}

// matchLogs compares a client's log messages with those that a case expects.
func (m *matcher) matchLogs(want *expectedLogs, got []logged) error {
	got = slices.DeleteFunc(got, func(l logged) bool {
		return slices.ContainsFunc(want.IgnoreMessages, func(e expectedLog) bool { return m.matchLog(&e, l) == nil })
	})
	for i := range want.Messages {
		if i >= len(got) {
			return fmt.Errorf("log message %d: want %v, there are %d", i, want.Messages[i].Data, len(got))
		}
		if err := m.matchLog(&want.Messages[i], got[i]); err != nil {
			return fmt.Errorf("log message %d: %w; it is %v", i, err, got[i].data)
		}
	}
	if !want.IgnoreExtraMessages && len(got) > len(want.Messages) {
		return fmt.Errorf("log message %d: nothing more is wanted, got %v", len(want.Messages), got[len(want.Messages)].data)
	}
	return nil
}

func (m *matcher) matchLog(want *expectedLog, got logged) error {
	if err := equal("level", &want.Level, got.level); err != nil {
		return err
	}
	if err := equal("component", &want.Component, got.component); err != nil {
		return err
	}
	if err := m.match(documentValue(want.Data), got.data, true); err != nil {
		return err
	}
	if want.FailureIsRedacted == nil {
		return nil
	}
	failure, ok := got.data.Document().Lookup("failure").StringValueOK()
	if !ok {
		return fmt.Errorf("failure: there is none")
	}
	return equal("failureIsRedacted", want.FailureIsRedacted, isRedacted(failure))
}

// isRedacted reports whether an error's text lacks its cause: the message of the server's fail point, which all cases use, or
// the connection that broke.
func isRedacted(failure string) bool {
	failure = strings.ToLower(failure)
	return !strings.Contains(failure, "failpoint") && !strings.Contains(failure, "connection")
}
