package situations

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
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// situation is a function that a program calls, with what the client and the server were before.
type situation struct {
	name string
	// configure changes the client's options, if it is not nil.
	configure func(*options.ClientOptions)
	do        func(context.Context, *world) (any, error)
}

// world is a client with a replica set of one member, in a bubble of the fake clock.
type world struct {
	*testing.T
	set    *mongotest.Deployment
	client *mongo.Client
	db     *mongo.Database
	coll   *mongo.Collection

	mu   sync.Mutex
	sent []string
}

// lines returns what the situation prints, each line with the situation's name.
func (s *situation) lines(t *testing.T) []string {
	var lines []string
	synctest.Test(t, func(t *testing.T) { lines = s.play(t) })
	for i, line := range lines {
		lines[i] = s.name + " | " + line
	}
	return lines
}

func (s *situation) play(t *testing.T) []string {
	set := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.Version("8.0"))
	for id := range 3 {
		if err := set.Insert("db.c", bson.D{{Key: "_id", Value: int32(id)}, {Key: "n", Value: int32(id)}}); err != nil {
			t.Fatal(err)
		}
	}
	o := options.Client().ApplyURI(set.URI() + "&serverMonitoringMode=poll").SetDialer(set.Dialer())
	if s.configure != nil {
		s.configure(o)
	}
	client, err := mongo.Connect(o)
	if err != nil {
		return []string{"Connect: " + describe(err), "Connect's text: " + oneLine(err.Error())}
	}
	w := &world{T: t, set: set, client: client, db: client.Database("db")}
	w.coll = w.db.Collection("c")
	defer func() {
		set.Heal()
		_ = client.Disconnect(context.Background())
	}()
	if err := client.Ping(t.Context(), nil); err != nil {
		return []string{"Ping: " + describe(err), "Ping's text: " + textOf(err)}
	}
	set.Use(mongotest.AnyCommand, mongotest.Decide(func(q *mongotest.Request) mongotest.Fault {
		w.note(q)
		return mongotest.Fault{}
	}))
	return w.run(s)
}

func (w *world) run(s *situation) []string {
	began := time.Now()
	result, err := guarded(s.do)(context.Background(), w)
	took := time.Since(began)
	synctest.Wait() // for the writes that are not acknowledged
	lines := []string{"result: " + oneLine(show(result)), "error: " + describe(err), "text: " + textOf(err)}
	if took > patience { // shorter times depend on when a monitor checked
		lines = append(lines, "took: a long time")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, line := range w.sent {
		lines = append(lines, "sent: "+line)
	}
	return lines
}

// guarded returns a panic as an error.
func guarded(do func(context.Context, *world) (any, error)) func(context.Context, *world) (any, error) {
	return func(ctx context.Context, w *world) (result any, err error) {
		defer func() {
			if p := recover(); p != nil {
				result, err = nil, fmt.Errorf("panic: %v", p)
			}
		}()
		return do(ctx, w)
	}
}

// note records a command of the application.
func (w *world) note(q *mongotest.Request) {
	if !q.Application {
		return
	}
	text := fmt.Sprintf("%s of %d bytes", q.Command, len(q.Body))
	if len(q.Body) < 1<<16 {
		text = oneLine(show(lasting(q.Body)))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, text)
}

// lasting returns a command without the values that differ from run to run. The other fields except the first are in the order of
// their names, because their order has no meaning.
func lasting(body bson.Raw) bson.D {
	doc := bson.D{}
	if err := bson.Unmarshal(body, &doc); err != nil {
		return bson.D{{Key: "malformed", Value: err.Error()}}
	}
	doc = slices.DeleteFunc(doc, func(e bson.E) bool { return e.Key == "$clusterTime" })
	for i, e := range doc {
		switch limit, _ := e.Value.(int64); {
		case e.Key == "lsid":
			doc[i].Value = "a session"
		case e.Key == "maxTimeMS" && doc[0].Key == "aggregate" && limit > 0 && limit <= stepLimit.Milliseconds():
			doc[i].Value = "the rest of the time" // it depends on when a monitor checked, and on random backoffs
		}
	}
	if len(doc) > 1 {
		slices.SortStableFunc(doc[1:], func(a, b bson.E) int { return strings.Compare(a.Key, b.Key) })
	}
	sortStreamOptions(doc)
	plainIDs(doc)
	return doc
}

// sortStreamOptions puts the options of the first stage in the order of their names, if it is $changeStream.
func sortStreamOptions(command bson.D) {
	for _, e := range command {
		stages, _ := e.Value.(bson.A)
		if e.Key != "pipeline" || len(stages) == 0 {
			continue
		}
		if stage, ok := stages[0].(bson.D); ok && len(stage) == 1 && stage[0].Key == "$changeStream" {
			if o, ok := stage[0].Value.(bson.D); ok {
				slices.SortStableFunc(o, func(a, b bson.E) int { return strings.Compare(a.Key, b.Key) })
			}
		}
	}
}

// What differs from run to run.
var (
	objectID  = regexp.MustCompile(`\{"\$oid": ?"[0-9a-f]{24}"\}|ObjectID\("[0-9a-f]{24}"\)`)
	timestamp = regexp.MustCompile(`\{"\$timestamp": ?\{"t": ?"?\d+"?, ?"i": ?"?\d+"?\}\}`)
	uuid      = regexp.MustCompile(`\{"\$binary": ?\{"base64": ?"[^"]*", ?"subType": ?"04"\}\}`)
	pointer   = regexp.MustCompile(`0x[0-9a-f]{6,}`)
	token     = regexp.MustCompile(`"?_data"?: ?"[0-9A-F]+"`)
	cursorID  = regexp.MustCompile(`\{"\$numberLong": ?"\d{15,}"\}`)
	wallTime  = regexp.MustCompile(`"wallTime": ?\{"\$date": ?\{[^}]*\}\}`)
	topology  = regexp.MustCompile(`current topology: .*`)
)

const (
	longest  = 1200
	patience = 20 * time.Second
)

func oneLine(text string) string {
	text = strings.ReplaceAll(text, "\n", `\n`)
	text = objectID.ReplaceAllString(text, "an ObjectID")
	text = timestamp.ReplaceAllString(text, "a timestamp")
	text = uuid.ReplaceAllString(text, "a UUID")
	text = pointer.ReplaceAllString(text, "a pointer")
	text = token.ReplaceAllString(text, `"_data":"a token"`)
	text = cursorID.ReplaceAllString(text, "a cursor")
	text = wallTime.ReplaceAllString(text, `"wallTime":"a time"`)
	text = topology.ReplaceAllString(text, "current topology: ...")
	if len(text) > longest {
		return fmt.Sprintf("%s... (%d bytes)", text[:longest], len(text))
	}
	return text
}
