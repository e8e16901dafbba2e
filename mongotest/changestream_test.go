package mongotest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// stream is a change stream on a raw connection.
type stream struct {
	c     *rawClient
	db    string
	coll  string
	id    int64
	token bson.Raw // behind which it stands
}

// watching returns the command that opens a change stream on a collection ("db.c"), a database ("db") or, with "", everything.
func watching(on, spec string, stages ...string) string {
	db, coll, found := strings.Cut(on, ".")
	target := `"` + coll + `"`
	if !found {
		target = "1"
	}
	if on == "" {
		db, spec = "admin", strings.Replace(spec, "{", `{"allChangesForCluster": true, `, 1)
		spec = strings.Replace(spec, ", }", "}", 1)
	}
	pipeline := strings.Join(append([]string{`{"$changeStream": ` + spec + `}`}, stages...), ", ")
	return fmt.Sprintf(`{"aggregate": %s, "pipeline": [%s], "cursor": {}, "$db": "%s"}`, target, pipeline, db)
}

// watch opens a change stream and returns it with its first events.
func watch(c *rawClient, on, spec string, stages ...string) (*stream, []bson.Raw) {
	c.t.Helper()
	s := &stream{c: c}
	return s, s.read(c.ok("%s", watching(on, spec, stages...)), "firstBatch")
}

func (s *stream) read(reply bson.Raw, field string) []bson.Raw {
	s.c.t.Helper()
	s.id = number(reply, "cursor", "id")
	s.db, s.coll, _ = strings.Cut(reply.Lookup("cursor", "ns").StringValue(), ".")
	s.token, _ = reply.Lookup("cursor", "postBatchResumeToken").DocumentOK()
	return elements(reply.Lookup("cursor", field))
}

func elements(array bson.RawValue) []bson.Raw {
	values, _ := array.Array().Values()
	var docs []bson.Raw
	for _, v := range values {
		docs = append(docs, v.Document())
	}
	return docs
}

// more fetches the next batch; it waits a second for one that is not empty.
func (s *stream) more() []bson.Raw {
	s.c.t.Helper()
	return s.read(s.c.ok(`{"getMore": {"$numberLong": "%d"}, "collection": "%s", "$db": "%s"}`, s.id, s.coll, s.db), "nextBatch")
}

// rest fetches events until there are no more or the stream has ended.
func (s *stream) rest() []bson.Raw {
	s.c.t.Helper()
	var events []bson.Raw
	for s.id != 0 {
		batch := s.more()
		if len(batch) == 0 {
			break
		}
		events = append(events, batch...)
	}
	return events
}

func TestRefusedChangeStreams(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		client := dial(t, rs, 0)
		client.ok(`{"create": "c", "$db": "db"}`)
		client.ok(`{"create": "v", "viewOn": "c", "$db": "db"}`)
		s, _ := watch(client, "db.c", `{}`)
		client.ok(`{"drop": "c", "$db": "db"}`)
		ended := s.more()[1].Lookup("_id").String()
		for _, c := range []struct{ rule, command, want string }{
			{"a document", watching("db.c", `3`), "6188500"},
			{"a collection", watching("db.v", `{}`), `"errmsg": "Namespace db.v is a view, not a collection","code": {"$numberInt":"166"}`},
			{"a known option", watching("db.c", `{"depth": 1}`), `$changeStream.depth' is an unknown field.","code": {"$numberInt":"40415"}`},
			{"a mode", watching("db.c", `{"fullDocument": "x"}`), "Enumeration value 'x' for field '$changeStream.fullDocument' is not a valid value."},
			{"a text", watching("db.c", `{"fullDocumentBeforeChange": 1}`), `wrong type 'int', expected type 'string'`},
			{"a timestamp", watching("db.c", `{"startAtOperationTime": 1}`), `wrong type 'int', expected type 'timestamp'`},
			{"a boolean", watching("db.c", `{"showExpandedEvents": 1}`), "Field 'showExpandedEvents' should be a boolean value, but found: int"},
			{"a token", watching("db.c", `{"resumeAfter": {}}`), "Bad resume token: _data of missing or of wrong type. Expected string, got {}"},
			{"type bits", watching("db.c", `{"resumeAfter": {"_data": "82", "_typeBits": 1}}`), `"code": {"$numberInt":"40648"}`},
			{"hexadecimal digits", watching("db.c", `{"resumeAfter": {"_data": "zz"}}`), `not a valid hex string","code": {"$numberInt":"9"}`},
			{"a whole token", watching("db.c", `{"resumeAfter": {"_data": "8265"}}`), `"code": {"$numberInt":"260"}`},
			{"no system events", watching("db.c", `{"showSystemEvents": true}`), `"code": {"$numberInt":"238"}`},
			{"one point to begin at", watching("db.c", `{"resumeAfter": `+ended+`, "startAfter": `+ended+`}`), "50865"},
			{"one kind of point", watching("db.c", `{"startAfter": `+ended+`, "startAtOperationTime": {"$timestamp": {"t": 1, "i": 1}}}`), "40674"},
			{"not behind an end", watching("db.c", `{"resumeAfter": `+ended+`}`), `from an invalidate notification","code": {"$numberInt":"260"},"codeName": "InvalidResumeToken"`},
			{"the first stage", strings.Replace(watching("db.c", `{}`), "[", `[{"$match": {}}, `, 1), "$changeStream is only valid as the first stage in a pipeline"},
			{"stages that keep events", watching("db.c", `{}`, `{"$sort": {"a": 1}}`), `$sort is not permitted in a $changeStream pipeline","code": {"$numberInt":"20"}`},
			{"split events last", watching("db.c", `{}`, `{"$changeStreamSplitLargeEvent": {}}`, `{"$match": {}}`), "7182802"},
			{"split events of streams", `{"aggregate": "c", "pipeline": [{"$changeStreamSplitLargeEvent": {}}], "cursor": {}, "$db": "db"}`, "can only be used in a $changeStream pipeline"},
			{"no internal database", watching("admin.c", `{}`), `may not be opened on the internal admin database","code": {"$numberInt":"73"}`},
			{"no system collection", watching("db.system.users", `{}`), "may not be opened on the internal db.system.users collection"},
			{"the cluster at admin", watching("db", `{"allChangesForCluster": true}`), "may only be opened on the 'admin' database"},
			{
				"read concern majority", strings.TrimSuffix(watching("db.c", `{}`), "}") + `, "readConcern": {"level": "local"}}`,
				"cannot run with a readConcern other than 'majority'. Current readConcern: local",
			},
			{
				"no transaction", strings.TrimSuffix(watching("db.c", `{}`), "}") + `, "startTransaction": true` + transactionFields + `}`,
				`Stage not supported inside of a multi-document transaction: $changeStream","code": {"$numberInt":"263"}`,
			},
		} {
			if got := client.run("%s", c.command).String(); !strings.Contains(got, c.want) {
				t.Errorf("%s: the reply is %s; want %q in it", c.rule, got, c.want)
			}
		}
		for _, stages := range []string{
			`{"$project": {"operationType": 1}}`, `{"$addFields": {"x": 1}}`, `{"$set": {"x": 1}}`, `{"$unset": "ns"}`, `{"$replaceRoot": {"newRoot": "$$ROOT"}}`,
			`{"$replaceWith": "$$ROOT"}`, `{"$redact": "$$KEEP"}`, `{"$match": {"x": {"$ne": 1}}}`, `{"$changeStreamSplitLargeEvent": {}}`,
		} {
			s, _ := watch(client, "db.stages", `{}`, stages)
			client.ok(`{"insert": "stages", "documents": [{}], "$db": "db"}`)
			if got := s.more(); len(got) != 1 {
				t.Errorf("%s lets %d events pass, want 1", stages, len(got))
			}
		}
	})
	alone := dial(t, mongotest.RunStandaloneT(t, mongotest.InMemory()), 0)
	if got := alone.run("%s", watching("db.c", `{}`)).String(); !strings.Contains(got, "The $changeStream stage is only supported on replica sets") {
		t.Errorf("on a standalone the reply is %s", got)
	}
}

// TestChangeStreamsByVersion checks what older servers know of change streams.
func TestChangeStreamsByVersion(t *testing.T) {
	for version, want := range map[string][5]bool{ // startAfter, postBatchResumeToken, truncatedArrays, wallTime, images
		"3.6": {}, "4.0.6": {}, "4.0": {false, true}, "4.2": {true, true}, "5.0": {true, true, true}, "6.0": {true, true, true, true, true},
	} {
		bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
			client := dial(t, rs, 0)
			client.ok(`{"insert": "c", "documents": [{"_id": 1, "l": [1, 2]}], "$db": "db"}`)
			s, _ := watch(client, "db.c", `{}`)
			client.ok(`{"update": "c", "updates": [{"q": {}, "u": {"$set": {"l": [1]}}}], "$db": "db"}`)
			e := s.more()[0]
			has := func(path ...string) bool { return e.Lookup(path...).Type != 0 }
			got := [5]bool{
				number(client.run("%s", watching("db.c", `{"startAfter": {}}`)), "code") != 40415, s.token != nil,
				has("updateDescription", "truncatedArrays") && !has("updateDescription", "updatedFields", "l"), has("wallTime"),
				number(client.run(`{"create": "i", "changeStreamPreAndPostImages": {"enabled": true}, "$db": "db"}`), "ok") == 1,
			}
			if got != want {
				t.Errorf("version %s has %v, want %v", version, got, want)
			}
		}, mongotest.Version(version))
	}
}

// TestWhereChangeStreamsBegin checks the points from which a stream can begin again.
func TestWhereChangeStreamsBegin(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		client := dial(t, rs, 0)
		start := client.ok(`{"ping": 1, "$db": "db"}`).Lookup("operationTime").String()
		s, _ := watch(client, "db.c", `{}`)
		for i := range 4 {
			client.ok(`{"insert": "c", "documents": [{"_id": %d}], "$db": "db"}`, i)
		}
		client.ok(`{"insert": "other", "documents": [{}], "$db": "db"}`)
		events := s.rest()
		client.ok(`{"drop": "c", "$db": "db"}`)
		client.ok(`{"insert": "c", "documents": [{"_id": 9}], "$db": "db"}`)
		end := s.rest()
		token := func(e bson.Raw) string { return e.Lookup("_id").String() }
		for _, c := range []struct {
			rule, spec string
			want       []string
		}{
			{"behind an event", `{"resumeAfter": ` + token(events[1]) + `}`, []string{"2", "3", "drop", "invalidate"}},
			{"behind the last one", `{"startAfter": ` + token(events[3]) + `}`, []string{"drop", "invalidate"}},
			{"at a time", `{"startAtOperationTime": ` + events[2].Lookup("clusterTime").String() + `}`, []string{"2", "3", "drop", "invalidate"}},
			{"at the beginning", `{"startAtOperationTime": ` + start + `}`, []string{"0", "1", "2", "3", "drop", "invalidate"}},
			{"at a time to come", `{"startAtOperationTime": {"$timestamp": {"t": 2000000000, "i": 1}}}`, nil},
			{"between a drop and the end", `{"resumeAfter": ` + token(end[0]) + `}`, []string{"invalidate"}},
			{"behind the end", `{"startAfter": ` + token(end[1]) + `}`, []string{"9"}},
		} {
			s, got := watch(dial(t, rs, 0), "db.c", c.spec)
			got = append(got, s.rest()...)
			if list := names(got); !slices.Equal(list, c.want) {
				t.Errorf("%s the events are %q, want %q", c.rule, list, c.want)
			}
		}
		for member := range rs.Members() {
			secondary := dial(t, rs, member)
			command := strings.TrimSuffix(watching("db.c", `{"resumeAfter": `+token(events[2])+`}`), "}") + `, "$readPreference": {"mode": "nearest"}}`
			if got := names(elements(secondary.ok("%s", command).Lookup("cursor", "firstBatch"))); !slices.Equal(got, []string{"3", "drop", "invalidate"}) {
				t.Errorf("member %d goes on with %q", member, got)
			}
		}
	})
}

// TestALookupSeesWhatAMajorityHas checks that updateLookup does not find a write that may be rolled back.
func TestALookupSeesWhatAMajorityHas(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		c.ok(`{"insert": "c", "documents": [{"_id": 1}], "$db": "db"}`)
		s, _ := watch(c, "db.c", `{"fullDocument": "updateLookup"}`)
		c.ok(`{"update": "c", "updates": [{"q": {}, "u": {"$set": {"n": 1}}}], "$db": "db"}`)
		rs.Partition([]int{0})
		c.ok(`{"update": "c", "updates": [{"q": {}, "u": {"$set": {"n": 2}}}], "writeConcern": {"w": 1}, "$db": "db"}`)
		if got := s.more(); len(got) != 1 || number(got[0], "fullDocument", "n") != 1 {
			t.Errorf("the events are %q, want one with n = 1", told(got))
		}
	})
}

// TestALargeBatch checks the position behind a batch that had no room for the next event.
func TestALargeBatch(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		s, _ := watch(c, "db.c", `{}`)
		for i := range 2 {
			c.ok(`{"insert": "c", "documents": [{"_id": %d, "s": "%s"}], "$db": "db"}`, i, strings.Repeat("x", 9<<20))
		}
		first := s.more()
		if len(first) != 1 || s.token.String() != first[0].Lookup("_id").String() {
			t.Fatalf("behind %d events the position is %s", len(first), s.token)
		}
		if second := s.more(); !slices.Equal(names(second), []string{"1"}) {
			t.Errorf("then there are %q", names(second))
		}
	})
}

// names returns of each event the _id of its document, or its kind.
func names(events []bson.Raw) []string {
	var list []string
	for _, e := range events {
		if n := number(e, "documentKey", "_id"); n >= 0 {
			list = append(list, fmt.Sprint(n))
		} else {
			list = append(list, e.Lookup("operationType").StringValue())
		}
	}
	return list
}

// TestThePositionOfAChangeStream checks what the replies say about where a stream stands.
func TestThePositionOfAChangeStream(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		client := dial(t, rs, 0)
		client.ok(`{"create": "c", "$db": "db"}`)
		s, _ := watch(client, "db.c", `{}`, `{"$match": {"documentKey._id": {"$ne": 2}}}`)
		first := s.token.String()
		client.ok(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}], "$db": "db"}`)
		client.ok(`{"insert": "other", "documents": [{}], "$db": "db"}`)
		reply := client.ok(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "batchSize": 1, "$db": "db"}`, s.id)
		batch := s.read(reply, "nextBatch")
		if got := s.token.String(); got != batch[0].Lookup("_id").String() || got <= first {
			t.Errorf("behind a full batch the position is %s, want the event's %s", got, batch[0].Lookup("_id"))
		}
		if batch, last := s.more(), s.token.String(); len(batch) != 0 || s.token.String() <= last && last <= first {
			t.Errorf("at the end there are %d events and the position %s", len(batch), last)
		}
		behind := s.token.String()
		s, got := watch(client, "db.c", `{"resumeAfter": `+behind+`}`)
		client.ok(`{"insert": "c", "documents": [{"_id": 3}], "$db": "db"}`)
		if got = append(got, s.rest()...); !slices.Equal(names(got), []string{"3"}) {
			t.Errorf("behind the position of what was seen last there are %q, want only 3", names(got))
		}
	})
}

// TestErrorsOfChangeStreams checks what ends a stream, and what the error tells a driver.
func TestErrorsOfChangeStreams(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		client := dial(t, rs, 0)
		client.ok(`{"insert": "c", "documents": [{"_id": 1}], "$db": "db"}`)
		get := func(s *stream) string {
			return client.run(`{"getMore": {"$numberLong": "%d"}, "collection": "%s", "$db": "%s"}`, s.id, s.coll, s.db).String()
		}
		update := func() { client.ok(`{"update": "c", "updates": [{"q": {}, "u": {"$inc": {"n": 1}}}], "$db": "db"}`) }
		for _, c := range []struct {
			rule, spec string
			stages     []string
			point      string
			want       []string
		}{
			{
				"the token must stay", `{}`,
				[]string{`{"$project": {"_id": 0}}`},
				"",
				[]string{"Executor error during getMore :: caused by :: Encountered an event whose _id field", `"codeName": "ChangeStreamFatalError"`, `"errorLabels": ["NonResumableChangeStreamError"]`},
			},
			{
				"no document before", `{"fullDocumentBeforeChange": "required"}`, nil, "",
				[]string{`the pre-image was not found for event: { operationType: \"update\", ns: { db: \"db\", coll: \"c\" }, clusterTime: `, `"code": {"$numberInt":"47"}`},
			},
			{"no document after", `{"fullDocument": "required"}`, nil, "", []string{"the post-image was not found for event: ", `"codeName": "NoMatchingDocument"`}},
			{"a code to go on from", `{}`, nil, `"errorCode": 11602`, []string{`"errorLabels": ["ResumableChangeStreamError"]`}},
			{"another one", `{}`, nil, `"errorCode": 234`, []string{`"errorLabels": ["ResumableChangeStreamError"]`}},
		} {
			s, _ := watch(client, "db.c", c.spec, c.stages...)
			if c.point != "" {
				client.ok(`{"configureFailPoint": "failGetMoreAfterCursorCheckout", "mode": {"times": 1}, "data": {%s}, "$db": "admin"}`, c.point)
			}
			update()
			reply := get(s)
			for _, want := range c.want {
				if !strings.Contains(reply, want) {
					t.Errorf("%s: the reply is %s; want %q in it", c.rule, reply, want)
				}
			}
			if reply := get(s); !strings.Contains(reply, `"codeName": "CursorNotFound"`) {
				t.Errorf("%s: then the reply is %s; want no cursor", c.rule, reply)
			}
		}
		client.ok(`{"configureFailPoint": "failGetMoreAfterCursorCheckout", "mode": {"times": 1}, "data": {"errorCode": 11602}, "$db": "admin"}`)
		find := client.ok(`{"find": "c", "batchSize": 0, "$db": "db"}`)
		if reply := get(&stream{id: number(find, "cursor", "id"), db: "db", coll: "c"}); strings.Contains(reply, "errorLabels") {
			t.Errorf("another cursor's error has labels: %s", reply)
		}
	})
}

// TestTokensOfOtherLogs checks streams that begin after an entry that is not, or no longer, in the log.
func TestTokensOfOtherLogs(t *testing.T) {
	var foreign bson.Raw
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		client := dial(t, rs, 0)
		s, _ := watch(client, "db.c", `{}`)
		client.ok(`{"insert": "c", "documents": [{"_id": 1}], "$db": "db"}`)
		foreign = s.more()[0].Lookup("_id").Document()
	})
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		client := dial(t, rs, 0)
		client.ok(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}], "$db": "db"}`)
		reply := client.run("%s", watching("db.c", `{"resumeAfter": `+foreign.String()+`}`)).String()
		if !strings.Contains(reply, "cannot resume stream; the resume token was not found. ") || !strings.Contains(reply, `"code": {"$numberInt":"280"}`) ||
			!strings.Contains(reply, `"errorLabels": ["NonResumableChangeStreamError"]`) {
			t.Errorf("behind another log's event the reply is %s", reply)
		}
		s, _ := watch(client, "db.c", `{}`)
		client.ok(`{"insert": "c", "documents": [{"_id": 3}], "$db": "db"}`)
		old := s.more()[0].Lookup("_id").String()
		docs := strings.Repeat(`{}, `, 9999) + `{}`
		client.ok(`{"insert": "many", "documents": [%s], "$db": "db"}`, docs)
		reply = client.run("%s", watching("db.c", `{"resumeAfter": `+old+`}`)).String()
		if !strings.Contains(reply, `"codeName": "ChangeStreamHistoryLost"`) || !strings.Contains(reply, `"errorLabels": ["NonResumableChangeStreamError"]`) {
			t.Errorf("behind what was forgotten the reply is %s", reply)
		}
		reply = client.run(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "$db": "db"}`, s.id).String()
		if !strings.Contains(reply, `"codeName": "CappedPositionLost"`) {
			t.Errorf("a stream that was overtaken is answered %s", reply)
		}
	}, mongotest.OplogSize(1))
}

// TestAChangeStreamWaits checks how long a getMore waits and what ends it.
func TestAChangeStreamWaits(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		client, writer := dial(t, rs, 0), dial(t, rs, 0)
		s, _ := watch(client, "db.c", `{}`)
		get := func(more string) {
			client.send(0, j(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "$db": "db"%s}`, s.id, more))
		}
		answer := func() (string, time.Duration) {
			start := time.Now()
			_, m, err := client.receive()
			if err != nil {
				t.Fatal(err)
			}
			return bson.Raw(m.Body).String(), time.Since(start)
		}
		for more, want := range map[string]time.Duration{"": time.Second, `, "maxTimeMS": 5000`: 5 * time.Second, `, "maxTimeMS": 20`: 20 * time.Millisecond} {
			get(more)
			if reply, took := answer(); took != want || !strings.Contains(reply, `"nextBatch": []`) {
				t.Errorf("an empty batch (%s) took %v: %s", more, took, reply)
			}
		}
		get("")
		pass(100 * time.Millisecond)
		writer.ok(`{"insert": "other", "documents": [{}], "$db": "db"}`)
		writer.ok(`{"insert": "c", "documents": [{"_id": 1}], "$db": "db"}`)
		if reply, took := answer(); took > time.Millisecond || !strings.Contains(reply, `"operationType": "insert"`) {
			t.Errorf("the event took %v: %s", took, reply)
		}
		get("")
		pass(100 * time.Millisecond)
		if reply := writer.run(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "$db": "db"}`, s.id); number(reply, "code") != 143 {
			t.Errorf("a second getMore is answered %s, want 143", reply)
		}
		writer.ok(`{"killCursors": "c", "cursors": [{"$numberLong": "%d"}], "$db": "db"}`, s.id)
		if reply, took := answer(); took > time.Millisecond || !strings.Contains(reply, `"codeName": "CursorKilled"`) {
			t.Errorf("a killed cursor's getMore took %v: %s", took, reply)
		}
	})
}

// TestOnlyCommittedChangesAreTold checks that a stream neither reports a write that may be rolled back nor loses the
// write that replaces it.
func TestOnlyCommittedChangesAreTold(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		old := dial(t, rs, 0)
		s, _ := watch(old, "db.c", `{}`)
		rs.Partition([]int{0})
		old.ok(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 11}, {"_id": 12}, {"_id": 13}], "writeConcern": {"w": 1}, "$db": "db"}`)
		opened, _ := watch(old, "db.c", `{}`) // behind the insert
		if got := s.more(); len(got) != 0 {
			t.Errorf("an uncommitted insert was told: %q", told(got))
		}
		pass(30 * time.Second)
		client := dial(t, rs, max(0, rs.Primary()))
		client.ok(`{"insert": "c", "documents": [{"_id": 2}], "$db": "db"}`)
		rs.Heal()
		pass(time.Second)
		client.ok(`{"insert": "c", "documents": [{"_id": 3}], "$db": "db"}`)
		for _, s := range []*stream{s, opened} {
			if got := names(s.rest()); !slices.Equal(got, []string{"2", "3"}) {
				t.Errorf("after the rollback the events are %q, want 2 and 3", got)
			}
		}
	})
}
