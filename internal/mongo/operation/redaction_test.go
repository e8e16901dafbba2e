package operation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/retry"
)

// Command Logging and Monitoring, "Security".
func TestWhichCommandsAreSensitive(t *testing.T) {
	speculative := bson.E{Key: "speculativeAuthenticate", Value: bson.D{}}
	for _, c := range []struct {
		name  string
		field bson.E // the second field of the command
		want  bool
	}{
		{"authenticate", bson.E{}, true},
		{"saslStart", bson.E{}, true},
		{"saslContinue", bson.E{}, true},
		{"getnonce", bson.E{}, true},
		{"getNonce", bson.E{}, true},
		{"createUser", bson.E{}, true},
		{"CREATEUSER", bson.E{}, true},
		{"updateUser", bson.E{}, true},
		{"copydbgetnonce", bson.E{}, true},
		{"copydbsaslstart", bson.E{}, true},
		{"copydb", bson.E{}, true},
		{"hello", speculative, true},
		{"isMaster", speculative, true},
		{"ismaster", speculative, true},
		{"hello", bson.E{}, false},
		{"ismaster", bson.E{}, false},
		{"ping", speculative, false},
		{"usersInfo", bson.E{Key: "showCredentials", Value: true}, true},
		{"usersInfo", bson.E{}, false},
		{"dropUser", bson.E{}, false},
		{"insert", bson.E{Key: "createUser", Value: 1}, false},
	} {
		if got := sensitive(c.name, marshal(t, bson.D{{Key: c.name, Value: 1}, c.field})); got != c.want {
			t.Errorf("%s with %q: %v", c.name, c.field.Key, got)
		}
	}
}

func TestTheEventsOfASensitiveCommandShowNoSecret(t *testing.T) {
	refusal := official.CommandError{
		Code: 18, Name: "AuthenticationFailed", Message: "the secret is wrong", Labels: []string{"l"},
		Raw: marshal(t, bson.D{{Key: "errmsg", Value: "the secret is wrong"}}), Wrapped: errors.New("secret"),
	}
	broken := &cluster.IOError{Address: "a:1", Stage: retry.StageInFlight, Err: io.EOF}
	for _, c := range []struct {
		name string
		err  error
		ok   int
		keep func(error) bool
	}{
		{"success", nil, 1, nil},
		{"refusal", refusal, 0, func(err error) bool {
			var kept official.CommandError
			return errors.As(err, &kept) && kept.Code == 18 && kept.Name == "AuthenticationFailed" && kept.HasErrorLabel("l") &&
				kept.Raw == nil && kept.Wrapped == nil
		}},
		{"network error", official.CommandError{Message: "EOF", Labels: []string{"NetworkError"}}, 0, func(err error) bool {
			var kept official.CommandError
			return errors.As(err, &kept) && kept.Message == "EOF" && kept.HasErrorLabel("NetworkError")
		}},
		{"broken connection", broken, 0, func(err error) bool { return errors.Is(err, io.EOF) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			ended := 0
			listener := &event.CommandMonitor{
				Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) {
					ended++
					if e.Reply.Validate() != nil || e.Reply.String() != "{}" {
						t.Errorf("the reply is %v", e.Reply)
					}
				},
				Failed: func(_ context.Context, e *event.CommandFailedEvent) {
					ended++
					if strings.Contains(fmt.Sprintf("%v %+v", e.Failure, e.Failure), "secret") || !c.keep(e.Failure) {
						t.Errorf("the error is %+v", e.Failure)
					}
				},
			}
			runner := &Runner{cfg: Config{Cluster: new(cluster.Cluster)}, attempts: monitored(listener)}
			a := newAttempted()
			a.run, a.ctx, a.told.Sensitive = &run{Runner: runner, op: &Operation{}}, t.Context(), true
			a.run.reply = *parsed(t, bson.D{{Key: "ok", Value: c.ok}, {Key: "payload", Value: "secret"}})
			a.ended(c.err)
			if ended != 1 {
				t.Errorf("%d events", ended)
			}
		})
	}
}
