package mongo_test

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// The prose tests of MongoDB Handshake. "Test that environment metadata is properly captured" is
// TestTheMetadataNamesTheEnvironment in internal/mongo/cluster.

// Test 2.
func TestHandshakeProse2AnUnknownMechanismInTheHelloIsAccepted(t *testing.T) {
	user := mongotest.User{Database: "admin", Name: "u", Password: "p"}
	inside(t, func() (*mongotest.Deployment, error) {
		set, err := mongotest.RunStandalone(mongotest.InMemory(), mongotest.Users(user))
		if err == nil {
			set.Use("hello", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
				reply := next(r)
				if _, asked := r.Body.LookupErr("saslSupportedMechs"); asked == nil && reply != nil {
					hello := without(t, reply.Body, "saslSupportedMechs")
					reply = mongotest.NewReply(bson.D{{Key: "saslSupportedMechs", Value: bson.A{"a future one", "SCRAM-SHA-256"}}})
					reply.Body = joinedDocuments(t, hello, reply.Body)
				}
				return reply
			})
		}
		return set, err
	}, func(o *options.ClientOptions) {
		o.SetAuth(options.Credential{Username: "u", Password: "p"})
	}, func(w *world) { w.must(w.client.Ping(w.ctx, nil)) })
}

// joinedDocuments returns a document with the fields of two.
func joinedDocuments(t *testing.T, a, b bson.Raw) bson.Raw {
	t.Helper()
	var all bson.D
	for _, raw := range []bson.Raw{a, b} {
		var fields bson.D
		if err := bson.Unmarshal(raw, &fields); err != nil {
			t.Fatal(err)
		}
		for _, f := range fields {
			if !slices.ContainsFunc(all, func(other bson.E) bool { return other.Key == f.Key }) {
				all = append(all, f)
			}
		}
	}
	out, err := bson.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// info is a library's name, version and platform.
type info = options.DriverInfo

var (
	library   = info{Name: "library", Version: "1.2", Platform: "Library Platform"}
	framework = info{Name: "framework", Version: "2.0", Platform: "Framework Platform"}
)

// afterEach returns the document client of the handshake after each of the updates: of the connection on which the ping came, since
// monitors make handshakes too. With initially the first update is made by the client's options.
func afterEach(t *testing.T, initially bool, updates ...info) []bson.D {
	t.Helper()
	var after []bson.D
	seen := handshakes{of: map[int64]bson.D{}}
	configure := func(o *options.ClientOptions) {
		poll(o)
		o.SetMaxConnIdleTime(time.Millisecond)
		if initially {
			o.SetDriverInfo(&updates[0])
		}
	}
	inside(t, func() (*mongotest.Deployment, error) {
		set, err := mongotest.RunStandalone(mongotest.InMemory())
		if err == nil {
			set.Use("hello", mongotest.Decide(seen.note))
			set.Use("ping", mongotest.Decide(seen.note))
		}
		return set, err
	}, configure, func(w *world) {
		for i, update := range updates {
			if i > 0 || !initially {
				w.client.AppendDriverInfo(update)
			}
			w.must(w.client.Ping(w.ctx, nil))
			client := seen.takePinged()
			if client == nil {
				t.Fatal("the ping made no connection")
			}
			after = append(after, client)
			w.pass(5 * time.Millisecond)
		}
	})
	return after
}

// handshakes are the documents client of the handshakes. Several connections note theirs at once.
type handshakes struct {
	mu     sync.Mutex
	of     map[int64]bson.D // by connection
	pinged int64            // the connection of the last ping
}

func (h *handshakes) note(q *mongotest.Request) mongotest.Fault {
	h.mu.Lock()
	defer h.mu.Unlock()
	var client bson.D
	if raw, ok := q.Body.Lookup("client").DocumentOK(); ok && bson.Unmarshal(raw, &client) == nil {
		h.of[q.ConnID] = client
	}
	if q.Command == "ping" {
		h.pinged = q.ConnID
	}
	return mongotest.Fault{}
}

// takePinged returns the document of the connection of the last ping, nil if it was taken before.
func (h *handshakes) takePinged() bson.D {
	h.mu.Lock()
	defer h.mu.Unlock()
	client := h.of[h.pinged]
	delete(h.of, h.pinged)
	return client
}

// libraries takes a document client apart: what the libraries added to the driver's own name, version and platform, and the
// rest of the document.
func libraries(client bson.D) (added info, rest string) {
	tail := func(v any) string {
		_, after, _ := strings.Cut(v.(string), "|")
		return after
	}
	for _, f := range client {
		switch f.Key {
		case "driver":
			driver := f.Value.(bson.D)
			added.Name, added.Version = tail(driver[0].Value), tail(driver[1].Value)
		case "platform":
			added.Platform = tail(f.Value)
		default:
			raw, _ := bson.MarshalExtJSON(bson.D{f}, true, false)
			rest += string(raw)
		}
	}
	return added, rest
}

// appended is what the libraries are after an update.
func appended(to, update info) info {
	add := func(a, b string) string { return strings.Trim(a+"|"+b, "|") }
	return info{Name: add(to.Name, update.Name), Version: add(to.Version, update.Version), Platform: add(to.Platform, update.Platform)}
}

// Tests 1, 2 and 3 of "Client Metadata Update".
func TestHandshakeProseMetadata1To3AnUpdateIsAppended(t *testing.T) {
	others := []info{
		framework,
		{Name: "framework", Version: "2.0"},
		{Name: "framework", Platform: "Framework Platform"},
		{Name: "framework"},
		library,
		{Name: "framework", Version: "1.2", Platform: "Library Platform"},
		{Name: "library", Version: "2.0", Platform: "Library Platform"},
		{Name: "library", Version: "1.2", Platform: "Framework Platform"},
		{Name: "framework", Version: "2.0", Platform: "Library Platform"},
		{Name: "framework", Version: "1.2", Platform: "Framework Platform"},
		{Name: "library", Version: "2.0", Platform: "Framework Platform"},
	}
	for _, initially := range []bool{true, false} {
		for _, update := range others {
			after := afterEach(t, initially, library, update)
			first, rest := libraries(after[0])
			if first != library {
				t.Errorf("the first library is %v", first)
			}
			want := appended(library, update)
			if update == library {
				want = library
			}
			if got, same := libraries(after[1]); got != want || same != rest {
				t.Errorf("initially %t, after %v: %v, want %v; the rest is %s, before it was %s", initially, update, got, want, same, rest)
			}
		}
	}
}

// Tests 4 to 8: nothing is appended twice, and an empty text is none.
func TestHandshakeProseMetadata4To8NothingIsAppendedTwice(t *testing.T) {
	noVersion, noPlatform := info{Name: "library", Platform: "Library Platform"}, info{Name: "library", Version: "1.2"}
	for _, c := range []struct {
		name      string
		initially bool
		updates   []info
	}{
		{"4", false, []info{library, framework, library}},
		{"5", true, []info{library, library}},
		{"6", true, []info{library, {Name: "framework", Version: "1.2", Platform: "Library Platform"}, library}},
		{"7, case 2", false, []info{noVersion, noVersion}},
		{"7, case 3", false, []info{noPlatform, noPlatform}},
		{"8, case 2", true, []info{noVersion, noVersion}},
		{"8, case 3", true, []info{noPlatform, noPlatform}},
	} {
		after := afterEach(t, c.initially, c.updates...)
		before, _ := libraries(after[len(after)-2])
		if last, _ := libraries(after[len(after)-1]); last != before {
			t.Errorf("test %s: %v, before it was %v", c.name, last, before)
		}
	}
}

// Test 9.
func TestHandshakeProse9HandshakesHaveTheBackpressureVersion(t *testing.T) {
	var seen atomic.Int32
	inside(t, func() (*mongotest.Deployment, error) {
		set, err := mongotest.RunReplicaSet(3, mongotest.InMemory())
		if err == nil {
			set.Use("hello", mongotest.Decide(func(q *mongotest.Request) mongotest.Fault {
				if _, err := q.Body.LookupErr("client"); err == nil {
					if got, ok := q.Body.Lookup("backpressure").StringValueOK(); ok && got == "2" {
						seen.Add(1)
					} else {
						t.Errorf("the handshake is %v", q.Body)
					}
				}
				return mongotest.Fault{}
			}))
		}
		return set, err
	}, nil, func(w *world) { w.must(w.client.Ping(w.ctx, nil)) })
	if seen.Load() == 0 {
		t.Error("there was no handshake")
	}
}
