package logging

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"pgregory.net/rapid"
)

// memory is a sink that keeps the messages.
type memory struct{ lines []string }

func (m *memory) Info(level int, message string, fields ...any) {
	m.lines = append(m.lines, fmt.Sprint(level, message, fields))
}

func (m *memory) Error(error, string, ...any) {}

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for _, pair := range pairs {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func levels(l *Logger) string {
	text := ""
	for _, c := range []options.LogComponent{Command, Topology, ServerSelection, Connection} {
		switch {
		case l.Enabled(c, Debug):
			text += "d"
		case l.Enabled(c, Info):
			text += "i"
		default:
			text += "-"
		}
	}
	return text
}

// The Logging specification, "Implementation requirements". The components are command, topology, server selection and
// connection; d is debug, i is info.
func TestLevels(t *testing.T) {
	all := options.LogComponentAll
	for _, c := range []struct {
		name string
		o    *options.LoggerOptions
		env  []string
		want string
	}{
		{"the default is to log nothing", nil, nil, "----"},
		{"a component", options.Logger().SetComponentLevel(Command, Debug), nil, "d---"},
		{"each component", options.Logger().SetComponentLevel(Topology, Info).SetComponentLevel(ServerSelection, Debug).SetComponentLevel(Connection, Info), nil, "-idi"},
		{"all components", options.Logger().SetComponentLevel(all, Info), nil, "iiii"},
		{"all components, and one at a level of its own", options.Logger().SetComponentLevel(all, Info).SetComponentLevel(Connection, Debug), nil, "iiid"},
		{"a variable", nil, []string{"MONGODB_LOG_COMMAND=debug"}, "d---"},
		{"each variable", nil, []string{"MONGODB_LOG_TOPOLOGY=info", "MONGODB_LOG_SERVER_SELECTION=debug", "MONGODB_LOG_CONNECTION=info"}, "-idi"},
		{"the case of a value does not matter", nil, []string{"MONGODB_LOG_COMMAND=DeBuG"}, "d---"},
		{"MONGODB_LOG_ALL", nil, []string{"MONGODB_LOG_ALL=debug"}, "dddd"},
		{"a component's variable takes precedence over MONGODB_LOG_ALL", nil, []string{"MONGODB_LOG_ALL=debug", "MONGODB_LOG_TOPOLOGY=info", "MONGODB_LOG_COMMAND=off"}, "-idd"},
		{"a value that is not valid is no value", nil, []string{"MONGODB_LOG_COMMAND=loud", "MONGODB_LOG_ALL=info"}, "iiii"},
		{"no value is valid", nil, []string{"MONGODB_LOG_COMMAND=loud"}, "----"},
		{"levels that are more severe than info are info", nil, []string{"MONGODB_LOG_COMMAND=emergency", "MONGODB_LOG_TOPOLOGY=warn", "MONGODB_LOG_CONNECTION=notice"}, "ii-i"},
		{"trace is debug", nil, []string{"MONGODB_LOG_COMMAND=trace"}, "d---"},
		{"an option takes precedence over a variable", options.Logger().SetComponentLevel(Command, Info), []string{"MONGODB_LOG_COMMAND=debug", "MONGODB_LOG_TOPOLOGY=debug"}, "id--"},
		{"an option can turn a component off", options.Logger().SetComponentLevel(Command, 0), []string{"MONGODB_LOG_ALL=debug"}, "-ddd"},
	} {
		l, err := New(c.o, environment(c.env...))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := levels(l); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if (l == nil) != (c.want == "----") {
			t.Errorf("%s: there is a logger: %t", c.name, l != nil)
		}
	}
}

func TestAMessage(t *testing.T) {
	sink := new(memory)
	l, err := New(options.Logger().SetSink(sink).SetComponentLevel(Command, Debug).SetComponentLevel(Topology, Info), environment())
	if err != nil {
		t.Fatal(err)
	}
	l.Log(Command, Debug, "a", "k", 1)
	l.Log(Topology, Info, "b")
	l.Log(Topology, Debug, "c")
	if want := "[1a[k 1 message a] 0b[message b]]"; fmt.Sprint(sink.lines) != want {
		t.Errorf("%v, want %s", sink.lines, want)
	}
	var none *Logger
	none.Log(Command, Info, "d")
	none.Close()
}

func marshal(t *testing.T, doc any) bson.Raw {
	t.Helper()
	raw, err := bson.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// "BSON documents MUST be represented in relaxed extended JSON"; "Truncated extended JSON MUST have a trailing ellipsis".
func TestADocument(t *testing.T) {
	doc := bson.D{{Key: "a", Value: int64(1)}, {Key: "b", Value: "äöü"}}
	for _, c := range []struct {
		name   string
		length uint
		doc    bson.Raw
		want   string
	}{
		{"is relaxed extended JSON", 0, marshal(t, doc), `{"a":1,"b":"äöü"}`},
		{"is not cut at its length", 20, marshal(t, doc), `{"a":1,"b":"äöü"}`},
		{"is cut", 8, marshal(t, doc), `{"a":1,"...`},
		{"is cut at the end of a character", 13, marshal(t, doc), `{"a":1,"b":"...`},
		{"that is empty", 0, marshal(t, bson.D{}), `{}`},
		{"that does not exist", 0, nil, `{}`},
	} {
		l, err := New(options.Logger().SetSink(new(memory)).SetComponentLevel(Command, Info).SetMaxDocumentLength(c.length), environment())
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Document(c.doc); got != c.want {
			t.Errorf("a document %s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestTheMaximumLength(t *testing.T) {
	long := marshal(t, bson.D{{Key: "a", Value: strings.Repeat("x", 5000)}})
	for _, c := range []struct {
		name string
		o    *options.LoggerOptions
		env  []string
		want int
	}{
		{"the default", options.Logger(), nil, 1000},
		{"the option", options.Logger().SetMaxDocumentLength(7), []string{"MONGODB_LOG_MAX_DOCUMENT_LENGTH=9"}, 7},
		{"the variable", options.Logger(), []string{"MONGODB_LOG_MAX_DOCUMENT_LENGTH=9"}, 9},
		{"a variable that is no number", options.Logger(), []string{"MONGODB_LOG_MAX_DOCUMENT_LENGTH=nine"}, 1000},
		{"a negative variable", options.Logger(), []string{"MONGODB_LOG_MAX_DOCUMENT_LENGTH=-9"}, 1000},
	} {
		l, err := New(c.o.SetSink(new(memory)).SetComponentLevel(Command, Info), environment(c.env...))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(l.Document(long)); got != c.want+len("...") {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// The cost of a message must not depend on the size of a document that is not shown.
func TestALargeDocumentIsShortenedBeforeItIsFormatted(t *testing.T) {
	var many bson.A
	for i := range 100_000 {
		many = append(many, bson.D{{Key: "n", Value: int64(i)}})
	}
	for name, doc := range map[string]any{
		"an array": bson.D{{Key: "cursor", Value: bson.D{{Key: "firstBatch", Value: many}}}},
		"a string": bson.D{{Key: "s", Value: strings.Repeat("x", 1<<20)}},
		"a binary": bson.D{{Key: "s", Value: bson.Binary{Data: make([]byte, 1<<20)}}},
	} {
		if got := len(shortened(marshal(t, doc), 1000)); got > 17_000 {
			t.Errorf("%s: %d bytes are formatted", name, got)
		}
	}
}

// What is shown of a shortened document is what would be shown of the whole one.
func TestAShortenedDocumentBeginsLikeTheWholeOne(t *testing.T) {
	values := rapid.OneOf(
		rapid.Just[any](nil), rapid.Map(rapid.Int64(), toAny[int64]), rapid.Map(rapid.Bool(), toAny[bool]), rapid.Map(rapid.Float64Range(-9, 9), toAny[float64]),
		rapid.Map(rapid.StringN(0, 60, -1), toAny[string]), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 60), func(b []byte) any { return bson.Binary{Data: b} }),
		rapid.Map(rapid.SliceOfN(rapid.Int64(), 0, 60), func(n []int64) any { return n }),
	)
	rapid.Check(t, func(rt *rapid.T) {
		doc := bson.D{}
		for i, v := range rapid.SliceOfN(values, 0, 12).Draw(rt, "values") {
			doc = append(doc, bson.E{Key: string(rune('a' + i)), Value: v}, bson.E{Key: "in", Value: bson.D{{Key: "v", Value: v}, {Key: "w", Value: bson.A{v, v}}}})
		}
		raw := marshal(t, doc)
		length := rapid.IntRange(1, 30).Draw(rt, "length")
		whole, err := bson.MarshalExtJSON(raw, false, false)
		if err != nil {
			rt.Skip(err)
		}
		l := &Logger{maxLength: length}
		if got := l.Document(raw); got != l.cut(string(whole)) {
			rt.Errorf("%d characters: %s, want %s", length, got, l.cut(string(whole)))
		}
	})
}

func toAny[T any](v T) any { return v }

func FuzzShortened(f *testing.F) {
	doc, _ := bson.Marshal(bson.D{{Key: "a", Value: bson.A{1, "x", bson.D{{Key: "b", Value: bson.Binary{Data: []byte{1, 2}}}}}}})
	f.Add(doc, 3)
	f.Fuzz(func(t *testing.T, doc []byte, length int) {
		if text := (&Logger{maxLength: max(0, length%100)}).Document(doc); !utf8.ValidString(text) && utf8.Valid(doc) {
			t.Errorf("%q", text)
		}
	})
}

func TestTheLogFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for range 2 { // the second logger appends
		l, err := New(options.Logger().SetComponentLevel(Command, Info), environment("MONGODB_LOG_PATH="+path))
		if err != nil {
			t.Fatal(err)
		}
		l.Log(Command, Info, "hello", "n", 1)
		l.Close()
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	var line map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &line); err != nil || len(lines) != 2 || line["message"] != "hello" || line["n"] != 1.0 || line["timestamp"] == nil {
		t.Errorf("%q: %v", lines, err)
	}
}

// "If the variable is set to an invalid value, the driver MUST log to stderr and MUST NOT throw an exception."
func TestALogFileThatCannotBeOpenedIsStderr(t *testing.T) {
	l, err := New(options.Logger().SetComponentLevel(Command, Info), environment("MONGODB_LOG_PATH="+t.TempDir()))
	if err != nil || l.close != nil {
		t.Errorf("%v", err)
	}
}

func TestEndpoint(t *testing.T) {
	for address, want := range map[string]string{
		"a:27017": "[serverHost a serverPort 27017]", "[::1]:5": "[serverHost ::1 serverPort 5]", "/tmp/x.sock": "[serverHost /tmp/x.sock]",
	} {
		if got := fmt.Sprint(Endpoint(nil, address)); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
