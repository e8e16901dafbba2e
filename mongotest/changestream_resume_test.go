package mongotest_test

import (
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

const (
	without1 = `{"$match": {"documentKey._id": {"$ne": 1}}}`
	lost     = "cannot resume stream; the resume token was not found. "
)

// TestAFilterThatHidesTheEventOfTheToken checks that a resumed stream needs to see the event of its token: SERVER-71565,
// SERVER-107889 and, for what a lookup finds, SERVER-67677. A token of no event needs none.
func TestAFilterThatHidesTheEventOfTheToken(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		client := dial(t, rs, 0)
		s, _ := watch(client, "db.c", `{}`)
		start := s.token.String()
		client.ok(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}, {"_id": 3}], "$db": "db"}`)
		client.ok(`{"update": "c", "updates": [{"q": {"_id": 2}, "u": {"$set": {"n": 1}}}, {"q": {"_id": 2}, "u": {"$set": {"n": 2}}}], "$db": "db"}`)
		events := s.rest()
		for _, c := range []struct {
			rule, spec, token string
			stages            []string
			want              []string // the events; nil if the token is lost
		}{
			{"hidden, resumed", "resumeAfter", tokenOf(events[0]), []string{without1}, nil},
			{"hidden, started", "startAfter", tokenOf(events[0]), []string{without1}, nil},
			{"hidden by the second", "resumeAfter", tokenOf(events[0]), []string{`{"$match": {}}`, without1}, nil},
			{"hidden by its type", "resumeAfter", tokenOf(events[1]), []string{`{"$match": {"operationType": "update"}}`}, nil},
			{"shown", "resumeAfter", tokenOf(events[1]), []string{without1}, []string{"3", "2", "2"}},
			{"behind another stage", "resumeAfter", tokenOf(events[0]), []string{`{"$redact": "$$KEEP"}`, without1}, []string{"2", "3", "2", "2"}},
			{"no event's token", "resumeAfter", start, []string{without1}, []string{"2", "3", "2", "2"}},
			{"hidden, and no other event", "resumeAfter", tokenOf(events[0]), []string{`{"$match": {"_id": 1}}`}, []string{}},
		} {
			command := watching("db.c", `{"`+c.spec+`": `+c.token+`}`, c.stages...)
			reply := dial(t, rs, 0).run("%s", command)
			if c.want == nil {
				if text := reply.String(); number(reply, "code") != 280 || !strings.Contains(text, lost) || !strings.Contains(text, "NonResumable") {
					t.Errorf("%s: the reply is %s, want 280", c.rule, text)
				}
				continue
			}
			if got := names(elements(reply.Lookup("cursor", "firstBatch"))); number(reply, "ok") != 1 || !slices.Equal(got, c.want) {
				t.Errorf("%s: the events are %q, want %q: %s", c.rule, got, c.want, reply)
			}
		}
	})
}

// TestALostTokenIsToldByTheNextEventOfTheStream checks when a stream fails that cannot find its token: at the first event that its
// filter lets through, of which the error has the token, and if a lookup finds another document than the filter asks for.
func TestALostTokenIsToldByTheNextEventOfTheStream(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		client := dial(t, rs, 0)
		all, _ := watch(client, "db.c", `{}`)
		client.ok(`{"insert": "c", "documents": [{"_id": 1}], "$db": "db"}`)
		client.ok(`{"update": "c", "updates": [{"q": {}, "u": {"$set": {"n": 1}}}], "$db": "db"}`)
		update := all.rest()[1]
		client.ok(`{"update": "c", "updates": [{"q": {}, "u": {"$set": {"n": 2}}}], "$db": "db"}`)
		spec := `{"fullDocument": "updateLookup", "resumeAfter": ` + tokenOf(update) + `}`
		s, got := watch(client, "db.c", spec, `{"$match": {"fullDocument.n": 1}}`)
		if got = append(got, s.more()...); len(got) != 0 {
			t.Fatalf("before there is an event, the stream has %s", got)
		}
		client.ok(`{"insert": "c", "documents": [{"_id": 4, "n": 4}, {"_id": 3, "n": 1}], "$db": "db"}`)
		events := all.rest()
		reply := client.run(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "$db": "db"}`, s.id)
		message, _ := reply.Lookup("errmsg").StringValueOK()
		if !strings.Contains(message, lost+`{_data: "`+events[len(events)-1].Lookup("_id", "_data").StringValue()+`"}`) {
			t.Errorf("the reply is %s, want the token of %s", reply, events[len(events)-1])
		}
	})
}

// TestAStreamStartsAfterAnInvalidationThatItHides is SERVER-57792.
func TestAStreamStartsAfterAnInvalidationThatItHides(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		client := dial(t, rs, 0)
		client.ok(`{"create": "c", "$db": "db"}`)
		s, _ := watch(client, "db.c", `{}`)
		client.ok(`{"drop": "c", "$db": "db"}`)
		end := s.rest()
		client.ok(`{"insert": "c", "documents": [{"_id": 1}], "$db": "db"}`)
		_, got := watch(client, "db.c", `{"startAfter": `+tokenOf(end[1])+`}`, `{"$match": {"operationType": "insert"}}`)
		if list := names(got); !slices.Equal(list, []string{"1"}) {
			t.Errorf("the events are %q, want 1", list)
		}
	})
}

// TestOldVersionsSelectLast checks that a server before 6.0 looks for the token before it filters: SERVER-71565 tells that 4.4 did.
func TestOldVersionsSelectLast(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		client := dial(t, rs, 0)
		s, _ := watch(client, "db.c", `{}`)
		client.ok(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}], "$db": "db"}`)
		_, got := watch(client, "db.c", `{"resumeAfter": `+tokenOf(s.rest()[0])+`}`, without1)
		if list := names(got); !slices.Equal(list, []string{"2"}) {
			t.Errorf("the events are %q, want 2", list)
		}
	}, mongotest.Version("5.0"))
}

// TestOptionsThatAreNull checks that they are as good as none. A standalone server shows that it takes them.
func TestOptionsThatAreNull(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		client := dial(t, rs, 0)
		s, _ := watch(client, "db.c", `{"fullDocument": null, "fullDocumentBeforeChange": null, "resumeAfter": null, "startAfter": null, "startAtOperationTime": null}`)
		client.ok(`{"insert": "c", "documents": [{"_id": 1}], "$db": "db"}`)
		if got := names(s.more()); !slices.Equal(got, []string{"1"}) {
			t.Errorf("the events are %q, want 1", got)
		}
	})
}

func tokenOf(event bson.Raw) string { return event.Lookup("_id").String() }
