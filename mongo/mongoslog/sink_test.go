package mongoslog_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongo/mongoslog"
	"github.com/holdfast-db/holdfast/mongotest"
)

func written(level slog.Level, write func(options.LogSink)) string {
	var text bytes.Buffer
	write(mongoslog.New(slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: level, ReplaceAttr: withoutTime}))))
	return strings.TrimSpace(text.String())
}

func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

func TestLevelsAndAttributes(t *testing.T) {
	for _, c := range []struct {
		name  string
		level slog.Level
		write func(options.LogSink)
		want  string
	}{
		{
			"level 0 is info, and the text is not repeated", slog.LevelInfo,
			func(s options.LogSink) { s.Info(0, "Waiting", "message", "Waiting", "operation", "find") }, "level=INFO msg=Waiting operation=find",
		},
		{
			"level 1 is debug", slog.LevelDebug,
			func(s options.LogSink) { s.Info(1, "Command started", "requestId", 7) }, `level=DEBUG msg="Command started" requestId=7`,
		},
		{"what the handler does not want is not written", slog.LevelInfo, func(s options.LogSink) { s.Info(1, "Command started") }, ""},
		{
			"an error is an attribute", slog.LevelInfo,
			func(s options.LogSink) { s.Error(errors.New("no"), "failed", "a", 1) }, "level=ERROR msg=failed a=1 error=no",
		},
		{
			"a key without a value and a key that is no text are left out", slog.LevelInfo,
			func(s options.LogSink) { s.Info(0, "m", 1, 2, "a", 3, "b") }, "level=INFO msg=m a=3",
		},
	} {
		if got := written(c.level, c.write); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestWithoutALoggerTheDefaultOneIsUsed(t *testing.T) {
	before := slog.Default()
	defer slog.SetDefault(before)
	var text bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&text, nil)))
	mongoslog.New(nil).Info(0, "here")
	if !strings.Contains(text.String(), "msg=here") {
		t.Errorf("%q", text.String())
	}
}

func Example() {
	ctx := context.Background()
	set, err := mongotest.RunReplicaSet(3, mongotest.InMemory())
	if err != nil {
		panic(err)
	}
	defer set.Close()
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: shownAttr}))
	client, err := mongo.Connect(options.Client().ApplyURI(set.URI()).SetDialer(set.Dialer()).SetLoggerOptions(options.Logger().
		SetSink(mongoslog.New(logger)).
		SetComponentLevel(options.LogComponentCommand, options.LogLevelDebug)))
	if err != nil {
		panic(err)
	}
	defer client.Disconnect(ctx)
	_ = client.Database("admin").RunCommand(ctx, bson.D{{Key: "ping", Value: 1}}).Err()
	// Output:
	// level=DEBUG msg="Command started" commandName=ping databaseName=admin
	// level=DEBUG msg="Command succeeded" commandName=ping databaseName=admin
	// level=DEBUG msg="Command started" commandName=endSessions databaseName=admin
	// level=DEBUG msg="Command succeeded" commandName=endSessions databaseName=admin
}

// shownAttr leaves out what differs from run to run.
func shownAttr(_ []string, a slog.Attr) slog.Attr {
	switch a.Key {
	case slog.LevelKey, slog.MessageKey, "commandName", "databaseName":
		return a
	}
	return slog.Attr{}
}
