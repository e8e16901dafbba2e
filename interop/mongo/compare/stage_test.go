package compare

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/interop/internal/driver"
	"github.com/holdfast-db/holdfast/mongotest"
)

// row is one input that both drivers get.
type row struct {
	name   string
	uri    string // is added to the connection string
	server []mongotest.Option
	// configure changes the client's options, if it is not nil.
	configure func(*stage, *options.ClientOptions)
	// faults is called after a first command of the client. If cold is set, there is no such command, and faults is
	// called before the client exists.
	faults func(*stage)
	cold   bool
	do     func(context.Context, *stage) (any, error)
	// text is compared with the texts of both errors, which must contain it.
	text string
	// differ are the parts of the outcome ("result", "error", "took", "sent") in which ours must differ, and why is the
	// reason. In the parts of mayDiffer it may: there the order of the official driver's goroutines decides. All other
	// parts must be the same.
	differ, mayDiffer []string
	why               string
	// took is how long ours takes, if that is not compared.
	took string
}

// stage is one driver with a replica set of one member, inside a bubble of the fake clock.
type stage struct {
	t      *testing.T
	set    *mongotest.Deployment
	client driver.Client
	db     driver.NativeDatabase
	coll   driver.NativeCollection

	mu     sync.Mutex
	sent   []string
	events []string
}

// outcome is what the application and the server saw, as lines of text.
type outcome struct {
	lines []string
	err   error
}

// part returns the lines of one part.
func (o *outcome) part(name string) []string {
	var lines []string
	for _, line := range o.lines {
		if strings.HasPrefix(line, name+":") {
			lines = append(lines, line)
		}
	}
	return lines
}

// play returns the outcome of a row with the named driver.
func (r *row) play(t *testing.T, name string) outcome {
	t.Helper()
	var result outcome
	synctest.Test(t, func(t *testing.T) { result = r.playInBubble(t, name) })
	return result
}

func (r *row) playInBubble(t *testing.T, name string) outcome {
	set, err := mongotest.RunReplicaSet(1, append(r.server, mongotest.InMemory())...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = set.Close() }()
	if err := set.Insert("test.c", bson.D{{Key: "_id", Value: "known"}, {Key: "n", Value: int32(1)}}); err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, set: set}
	if r.cold {
		r.faults(s)
	}
	o := options.Client().ApplyURI(set.URI() + "&serverMonitoringMode=poll" + r.uri).SetDialer(set.Dialer()).SetMonitor(s.monitor())
	if r.configure != nil {
		r.configure(s, o)
	}
	if s.client, err = driver.Connect(name, o); err != nil {
		return outcome{lines: []string{"Connect: " + describe(err)}, err: err}
	}
	defer func() {
		set.Heal()
		_ = s.client.Disconnect(context.Background())
	}()
	s.db = s.client.Database("test")
	s.coll = s.db.Collection("c")
	return s.run(r)
}

func (s *stage) run(r *row) outcome {
	if !r.cold {
		if err := s.client.Ping(context.Background()); err != nil {
			s.t.Fatal(err)
		}
	}
	s.set.Use(mongotest.AnyCommand, mongotest.Decide(func(q *mongotest.Request) mongotest.Fault {
		s.note(q)
		return mongotest.Fault{}
	}))
	if r.faults != nil && !r.cold {
		r.faults(s)
	}
	began := time.Now()
	result, err := r.guarded(s)
	took := time.Since(began).Round(10 * time.Millisecond)
	synctest.Wait() // for the writes that are not acknowledged
	s.mu.Lock()
	defer s.mu.Unlock()
	out := outcome{err: err}
	out.lines = append(out.lines, "result: "+show(result), "error: "+describe(err), fmt.Sprintf("took: %v", took))
	for _, line := range s.sent {
		out.lines = append(out.lines, "sent: "+line)
	}
	return out
}

// guarded returns a panic as an error.
func (r *row) guarded(s *stage) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	return r.do(context.Background(), s)
}

// note records a command of the application, without the fields that always differ.
func (s *stage) note(q *mongotest.Request) {
	if !q.Application {
		return
	}
	text := fmt.Sprintf("%s of %d MiB", q.Command, len(q.Body)/mib)
	if len(q.Body) < mib {
		text = short(show(s.lasting(q.Body)))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, text)
}

// lasting returns a command without the fields that differ from run to run. The other fields except the first are in
// the order of their names, because their order has no meaning.
func (s *stage) lasting(body bson.Raw) bson.D {
	doc := bson.D{}
	if len(body) == 0 {
		return doc // the official driver's events have no document where ours have an empty one
	}
	if err := bson.Unmarshal(body, &doc); err != nil {
		s.t.Error(err)
	}
	doc = slices.DeleteFunc(doc, func(e bson.E) bool {
		return slices.Contains([]string{"lsid", "$clusterTime", "txnNumber", "$db", "$readPreference", "operationTime"}, e.Key)
	})
	if len(doc) > 1 {
		slices.SortStableFunc(doc[1:], func(a, b bson.E) int { return strings.Compare(a.Key, b.Key) })
	}
	return doc
}

func (s *stage) monitor() *event.CommandMonitor {
	add := func(kind, name, text string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.events = append(s.events, kind+" "+name+" "+short(text))
	}
	shown := func(body bson.Raw) string { return show(s.lasting(body)) }
	return &event.CommandMonitor{
		Started: func(_ context.Context, e *event.CommandStartedEvent) { add("started", e.CommandName, shown(e.Command)) },
		Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) {
			add("succeeded", e.CommandName, shown(e.Reply))
		},
		Failed: func(_ context.Context, e *event.CommandFailedEvent) {
			add("failed", e.CommandName, describeFailure(e.Failure))
		},
	}
}

const longest = 300

func short(text string) string {
	if len(text) > longest {
		return fmt.Sprintf("%s... (%d bytes)", text[:longest], len(text))
	}
	return text
}

// objectID is a new _id of the client.
var objectID = regexp.MustCompile(`\{"\$oid":"[0-9a-f]{24}"\}`)

func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case string:
		return v
	case []string:
		return strings.Join(v, "; ")
	}
	text, err := bson.MarshalExtJSON(bson.D{{Key: "v", Value: v}}, true, false)
	if err != nil {
		return fmt.Sprintf("%+v", v)
	}
	return objectID.ReplaceAllString(string(text[5:len(text)-1]), "an ObjectID")
}
