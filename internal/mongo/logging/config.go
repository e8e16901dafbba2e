package logging

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// variables are the environment variables of the Logging specification, by component.
var variables = map[options.LogComponent]string{
	Command:         "MONGODB_LOG_COMMAND",
	Topology:        "MONGODB_LOG_TOPOLOGY",
	ServerSelection: "MONGODB_LOG_SERVER_SELECTION",
	Connection:      "MONGODB_LOG_CONNECTION",
}

// levelNames are the values of these variables, in lower case. "warning" is the official client's name for "warn".
var levelNames = map[string]options.LogLevel{
	"off": 0, "emergency": Info, "alert": Info, "critical": Info, "error": Info, "warn": Info, "warning": Info, "notice": Info,
	"info": Info, "debug": Debug, "trace": Debug,
}

// New returns the logger that the options and the environment describe, or nil if nothing is to be written. An option takes
// precedence over the environment, a component's variable over MONGODB_LOG_ALL. A value of the environment that is not
// valid has no effect, as the Logging specification requires; a level of the options that does not exist is an error.
func New(o *options.LoggerOptions, environment func(string) string) (*Logger, error) {
	if o == nil {
		o = options.Logger()
	}
	l := &Logger{sink: o.Sink, maxLength: maxLength(o, environment)}
	if err := l.setLevels(o, environment); err != nil {
		return nil, err
	}
	if l.levels == [components]options.LogLevel{} {
		return nil, nil //nolint:nilnil // a nil logger writes nothing
	}
	if l.sink == nil {
		l.sink, l.close = defaultSink(environment("MONGODB_LOG_PATH"))
	}
	return l, nil
}

func (l *Logger) setLevels(o *options.LoggerOptions, environment func(string) string) error {
	for c, level := range o.ComponentLevels {
		if c < options.LogComponentAll || c >= components {
			return fmt.Errorf("LoggerOptions: the log component %d does not exist", c)
		}
		if level < 0 || level > Debug {
			return fmt.Errorf("LoggerOptions: the log level %d of component %d does not exist; the levels are 0 (off), %d (info) and %d (debug)",
				level, c, Info, Debug)
		}
	}
	everything, hasEverything := levelNames[strings.ToLower(environment("MONGODB_LOG_ALL"))]
	for c, name := range variables {
		level, ok := o.ComponentLevels[c]
		if !ok {
			level, ok = levelNames[strings.ToLower(environment(name))]
		}
		if !ok && hasEverything {
			level = everything
		}
		l.levels[c] = max(level, o.ComponentLevels[options.LogComponentAll])
	}
	return nil
}

func maxLength(o *options.LoggerOptions, environment func(string) string) int {
	if o.MaxDocumentLength != 0 {
		return int(min(o.MaxDocumentLength, 1<<30))
	}
	if n, err := strconv.ParseUint(environment("MONGODB_LOG_MAX_DOCUMENT_LENGTH"), 10, 30); err == nil {
		return int(n)
	}
	return defaultMaxDocumentLength
}

// defaultSink returns the sink for MONGODB_LOG_PATH: stdout, stderr or a file, to which it appends. If the file cannot be
// opened, it is stderr (Logging specification). The function closes the file.
func defaultSink(path string) (options.LogSink, func()) {
	switch strings.ToLower(path) {
	case "", "stderr":
		return newJSONSink(os.Stderr), nil
	case "stdout":
		return newJSONSink(os.Stdout), nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666) //nolint:gosec // the user chooses the file and its umask
	if err != nil {
		return newJSONSink(os.Stderr), nil
	}
	return newJSONSink(file), func() { _ = file.Close() }
}
