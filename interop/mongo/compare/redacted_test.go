package compare

import (
	"context"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/interop/internal/driver"
	"github.com/holdfast-db/holdfast/interop/internal/guide"
	"github.com/holdfast-db/holdfast/mongotest"
)

// The reasons of the differences below, as docs/MIGRATION.md has them.
const (
	whyRedacted = "the command and the reply in a redacted event are an empty document (Command Logging and Monitoring specification)"
	whyRelaxed  = "the documents in log messages are relaxed Extended JSON (Command Logging and Monitoring specification)"
)

// Command Logging and Monitoring: a sensitive command "MUST be replaced with an empty BSON document"; the official driver leaves it nil. The
// log has the "Relaxed extJSON representation of the command"; that of the official driver is canonical.
func TestWhatEventsAndLogsShow(t *testing.T) {
	for _, name := range driver.Names() {
		set := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
		var commands []bson.Raw
		log := &lines{}
		o := options.Client().ApplyURI(set.URI()).SetDialer(set.Dialer()).
			SetMonitor(&event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) { commands = append(commands, e.Command) }}).
			SetLoggerOptions(options.Logger().SetSink(log).SetComponentLevel(options.LogComponentCommand, options.LogLevelDebug))
		client, err := driver.Connect(name, o)
		if err != nil {
			t.Fatal(err)
		}
		_ = client.Database("admin").RunCommand(t.Context(), bson.D{{Key: "getnonce", Value: 1}})
		_ = client.Database("admin").RunCommand(t.Context(), bson.D{{Key: "ping", Value: 7}})
		if err := client.Disconnect(t.Context()); err != nil {
			t.Error(err)
		}
		ours := name == driver.NameOurs
		if redacted := commands[0]; (redacted != nil) != ours || ours && redacted.Validate() != nil {
			t.Errorf("%s: the redacted command is %v", name, redacted)
		}
		if relaxed := strings.Contains(log.all(), `"ping":7`) || strings.Contains(log.all(), `"ping": 7`); relaxed != ours {
			t.Errorf("%s: the log has relaxed JSON: %t\n%s", name, relaxed, log.all())
		}
	}
	guide.Check(t, "MIGRATION.md", []string{whyRedacted, whyRelaxed})
}

// lines is a sink that keeps the commands.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Info(_ int, _ string, pairs ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := 0; i+1 < len(pairs); i += 2 {
		if text, ok := pairs[i+1].(string); ok && pairs[i] == "command" {
			l.text.WriteString(text + "\n")
		}
	}
}

func (l *lines) Error(error, string, ...any) {}

func (l *lines) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
