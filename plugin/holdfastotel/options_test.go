package holdfastotel_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/holdfast-db/holdfast/plugin/holdfastotel"
)

const (
	enabledVariable = "OTEL_GO_INSTRUMENTATION_MONGODB_ENABLED"
	lengthVariable  = "OTEL_GO_INSTRUMENTATION_MONGODB_QUERY_TEXT_MAX_LENGTH"
)

// OpenTelemetry specification, tests, "Tracing Enable/Disable via Environment Variable". The option wins.
func TestWhatSwitchesTracesOn(t *testing.T) {
	for _, c := range []struct {
		variable string
		option   bool
		want     bool
	}{
		{"", false, false},
		{"false", false, false},
		{"0", false, false},
		{"on", false, false},
		{"1", false, true},
		{"true", false, true},
		{"TRUE", false, true},
		{"yes", false, true},
		{"false", true, true},
		{"", true, true},
	} {
		t.Setenv(enabledVariable, c.variable)
		in(t, holdfastotel.Options{Enabled: c.option}, func(w *world) {
			_ = w.coll.FindOne(w.ctx, bson.D{})
			if got := len(w.spans.Ended()) > 0; got != c.want {
				t.Errorf("%s=%q, Enabled: %t: there are spans: %t", enabledVariable, c.variable, c.option, got)
			}
		})
	}
}

// OpenTelemetry specification, tests, "Command Payload Emission via Environment Variable".
func TestWhatGivesSpansATheCommandsText(t *testing.T) {
	const whole = `{"find":"orders","filter":{"total":{"$gt":12}},"limit":1,"singleBatch":true}`
	for _, c := range []struct {
		variable string
		option   int
		want     string
	}{
		{"", 0, ""},
		{"0", 0, ""},
		{"1024", 0, whole},
		{"6", 0, `{"find`},
		{"6", 1000, whole},
		{"", len(whole), whole},
		{"", len(whole) - 1, whole[:len(whole)-1]},
	} {
		t.Setenv(lengthVariable, c.variable)
		in(t, holdfastotel.Options{Enabled: true, QueryTextMaxLength: c.option}, func(w *world) {
			_ = w.coll.FindOne(w.ctx, bson.D{{Key: "total", Value: bson.D{{Key: "$gt", Value: 12}}}})
			for _, s := range w.spans.Ended() {
				text, ok := spanAttribute(s, "db.query.text")
				if want := c.want != "" && s.Name() == "find"; ok != want || ok && text != c.want {
					t.Errorf("%s=%q, QueryTextMaxLength: %d: %s has the text %v", lengthVariable, c.variable, c.option, s.Name(), text)
				}
			}
		})
	}
}

func TestTheTextIsCutBetweenCharacters(t *testing.T) {
	in(t, holdfastotel.Options{Enabled: true, QueryTextMaxLength: 31}, func(w *world) {
		_ = w.coll.FindOne(w.ctx, bson.D{{Key: "é", Value: "äöüß"}})
		text, _ := spanAttribute(w.spans.Ended()[0], "db.query.text")
		if text != `{"find":"orders","filter":{"é":` {
			t.Errorf("the text is %v", text)
		}
	})
}

func TestWrongOptionsAreRefused(t *testing.T) {
	provider := noop.NewTracerProvider()
	if _, err := holdfastotel.New(holdfastotel.Options{QueryTextMaxLength: -1, TracerProvider: provider}); err == nil || !strings.Contains(err.Error(), "QueryTextMaxLength") {
		t.Errorf("the error is %v", err)
	}
	for _, value := range []string{"many", "-1", "1.5"} {
		t.Setenv(lengthVariable, value)
		if _, err := holdfastotel.New(holdfastotel.Options{Enabled: true, TracerProvider: provider}); err == nil || !strings.Contains(err.Error(), lengthVariable) {
			t.Errorf("%q: the error is %v", value, err)
		}
	}
	tracer, err := holdfastotel.New(holdfastotel.Options{})
	if tracer != nil || err != nil {
		t.Errorf("traces that are off: %v, %v", tracer, err)
	}
}
