package topology

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/tag"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// doc is a document of keys and values in turn.
func doc(pairs ...any) bson.D {
	d := bson.D{}
	for i := 0; i < len(pairs); i += 2 {
		d = append(d, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	return d
}

func raw(t testing.TB, d bson.D) bson.Raw {
	t.Helper()
	b, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// hello is a reply to hello with "ok: 1", a range of wire versions and the fields of more.
func hello(t testing.TB, more bson.D) bson.Raw {
	t.Helper()
	return raw(t, append(doc("ok", 1.0, "minWireVersion", 0, "maxWireVersion", 21), more...))
}

var (
	process  = bson.ObjectID{11: 1}
	election = bson.ObjectID{11: 7}
)

func TestAllFieldsOfAHelloAreRead(t *testing.T) {
	written := time.UnixMilli(1_700_000_000_123)
	got, err := ParseHello("A.Example:27017", hello(t, doc(
		"helloOk", true,
		"isWritablePrimary", true,
		"setName", "Rs",
		"setVersion", 3,
		"electionId", election,
		"me", "A.example:27017",
		"primary", "A.example:27017",
		"hosts", bson.A{"A.example:27017", "b:27017"},
		"passives", bson.A{"C:27017"},
		"arbiters", bson.A{"D:27017"},
		"tags", doc("dc", "ny", "Rack", "2"),
		"topologyVersion", doc("processId", process, "counter", int64(4)),
		"logicalSessionTimeoutMinutes", 30,
		"lastWrite", doc("opTime", doc(), "lastWriteDate", bson.NewDateTimeFromTime(written)),
		"maxBsonObjectSize", 1, "maxMessageSizeBytes", int64(2), "maxWriteBatchSize", 3.0,
		"readOnly", true,
		"connectionId", int64(99),
		"serviceId", process,
		"compression", bson.A{"zstd", "zlib"},
		"saslSupportedMechs", bson.A{"SCRAM-SHA-256"},
		"somethingNew", doc(),
	)))
	if err != nil {
		t.Fatal(err)
	}
	want := &Server{
		Address: "a.example:27017", Type: RSPrimary, Me: "a.example:27017", Primary: "a.example:27017",
		Hosts: []string{"a.example:27017", "b:27017"}, Passives: []string{"c:27017"}, Arbiters: []string{"d:27017"},
		SetName: "Rs", SetVersion: ptr[int64](3), ElectionID: election,
		Tags:                  tag.Set{{Name: "dc", Value: "ny"}, {Name: "Rack", Value: "2"}},
		TopologyVersion:       &TopologyVersion{ProcessID: process, Counter: 4},
		SessionTimeoutMinutes: ptr[int64](30), LastWriteDate: written,
		MaxWireVersion: 21, MaxDocumentSize: 1, MaxMessageSize: 2, MaxBatchCount: 3,
		HelloOK: true, ReadOnly: true, ServerConnectionID: ptr[int64](99), ServiceID: process,
		Compression: []string{"zstd", "zlib"}, SASLSupportedMechs: []string{"SCRAM-SHA-256"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v, want\n%+v", got, want)
	}
}

func TestAServerDescriptionDoesNotAliasTheReply(t *testing.T) {
	bytes := hello(t, doc("setName", "rs", "hosts", bson.A{"a:27017"}, "tags", doc("dc", "ny")))
	s, err := ParseHello("a:27017", bytes)
	if err != nil {
		t.Fatal(err)
	}
	clear(bytes) // as if the buffer were used for the next reply
	if s.SetName != "rs" || s.Hosts[0] != "a:27017" || s.Tags[0] != (tag.Tag{Name: "dc", Value: "ny"}) {
		t.Errorf("the description changed with the buffer: %+v", s)
	}
}

func TestDefaultsOfAHello(t *testing.T) {
	s, err := ParseHello("a:27017", raw(t, doc("ok", 1, "electionId", nil, "topologyVersion", nil)))
	if err != nil {
		t.Fatal(err)
	}
	want := &Server{
		Address: "a:27017", Type: Standalone,
		MaxDocumentSize: 16777216, MaxMessageSize: 48000000, MaxBatchCount: 100000,
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got\n%+v, want\n%+v", s, want)
	}
}

func TestKindOfServer(t *testing.T) {
	for name, c := range map[string]struct {
		reply bson.D
		want  ServerType
	}{
		"no set name is a standalone":                 {doc("isWritablePrimary", true), Standalone},
		"isdbgrid is a mongos":                        {doc("msg", "isdbgrid", "isWritablePrimary", true), Mongos},
		"another msg is ignored":                      {doc("msg", "hi"), Standalone},
		"a writable member is the primary":            {doc("setName", "rs", "isWritablePrimary", true), RSPrimary},
		"a legacy hello has ismaster":                 {doc("setName", "rs", "ismaster", true), RSPrimary},
		"isWritablePrimary prevails over ismaster":    {doc("setName", "rs", "ismaster", true, "isWritablePrimary", false, "secondary", true), RSSecondary},
		"a number is accepted as a boolean":           {doc("setName", "rs", "ismaster", 1.0), RSPrimary},
		"a secondary":                                 {doc("setName", "rs", "secondary", true), RSSecondary},
		"a hidden secondary cannot be used":           {doc("setName", "rs", "secondary", true, "hidden", true), RSOther},
		"an arbiter":                                  {doc("setName", "rs", "arbiterOnly", true), RSArbiter},
		"a member in another state":                   {doc("setName", "rs"), RSOther},
		"isreplicaset: true is always a ghost":        {doc("setName", "rs", "isreplicaset", true, "isWritablePrimary", true), RSGhost},
		"isreplicaset: false is not a ghost":          {doc("setName", "rs", "isreplicaset", false, "secondary", true), RSSecondary},
		"a mongos behind a load balancer is a mongos": {doc("msg", "isdbgrid", "serviceId", process), Mongos},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := ParseHello("a:27017", hello(t, c.reply))
			if err != nil {
				t.Fatal(err)
			}
			same(t, "kind", s.Type, c.want)
		})
	}
}

func TestAHelloErrorKeepsTheFieldsOfTheReply(t *testing.T) {
	tv := &TopologyVersion{ProcessID: process, Counter: 2}
	s, err := ParseHello("A:27017", raw(t, doc(
		"ok", 0.0, "errmsg", "going down", "code", 91, "codeName", "ShutdownInProgress",
		"errorLabels", bson.A{"SystemOverloadedError"},
		"topologyVersion", doc("processId", process, "counter", int64(2)),
		"hosts", "a field of the wrong type, which is ignored here",
	)))
	refusal := new(HelloError)
	if !errors.As(err, &refusal) {
		t.Fatalf("the error is %v", err)
	}
	want := &HelloError{
		Code: 91, HasCode: true, CodeName: "ShutdownInProgress", Message: "going down",
		Labels: []string{"SystemOverloadedError"}, TopologyVersion: tv,
	}
	if !reflect.DeepEqual(refusal, want) {
		t.Errorf("got %+v, want %+v", refusal, want)
	}
	same(t, "text", err.Error(), "hello failed: going down (ShutdownInProgress, code 91)")
	if !reflect.DeepEqual(s, NewUnknown("a:27017", err, nil)) {
		t.Errorf("the description is %+v", s)
	}
}

func TestAHelloWithoutOkIsAHelloError(t *testing.T) {
	for name, reply := range map[string]bson.D{
		"empty":       doc(),
		"ok is null":  doc("ok", nil),
		"ok is 2":     doc("ok", 2),
		"ok is text":  doc("ok", "1"),
		"ok is false": doc("ok", false),
	} {
		t.Run(name, func(t *testing.T) {
			s, err := ParseHello("a:27017", raw(t, reply))
			if refusal := new(HelloError); !errors.As(err, &refusal) || !strings.Contains(err.Error(), "no ok: 1") {
				t.Errorf("the error is %v", err)
			}
			same(t, "kind", s.Type, Unknown)
		})
	}
}

func TestAFieldOfTheWrongTypeIsNamed(t *testing.T) {
	for key, values := range map[string]bson.A{
		"hosts":                        {"a:27017", bson.A{1}, bson.A{""}, bson.A{nil}, doc()},
		"arbiters":                     {1},
		"passives":                     {true},
		"setName":                      {1, bson.A{"rs"}},
		"setVersion":                   {"1", true, 1.5},
		"electionId":                   {"000000000000000000000001", int64(1)},
		"me":                           {1},
		"primary":                      {doc()},
		"secondary":                    {"true"},
		"hidden":                       {doc()},
		"isWritablePrimary":            {"yes"},
		"ismaster":                     {bson.A{}},
		"minWireVersion":               {"0", int64(1) << 40},
		"maxWireVersion":               {true},
		"maxBsonObjectSize":            {0, -1, "16"},
		"maxMessageSizeBytes":          {int64(1) << 31},
		"maxWriteBatchSize":            {0.5},
		"tags":                         {bson.A{}, doc("dc", 1)},
		"lastWrite":                    {1, doc("lastWriteDate", "today")},
		"logicalSessionTimeoutMinutes": {"30"},
		"topologyVersion":              {1, doc(), doc("processId", process), doc("processId", "x", "counter", 1), doc("processId", process, "counter", "1")},
		"connectionId":                 {"7"},
		"serviceId":                    {"7"},
		"compression":                  {"zlib"},
		"saslSupportedMechs":           {bson.A{1}},
	} {
		for _, value := range values {
			s, err := ParseHello("a:27017", hello(t, doc(key, value)))
			if !errors.Is(err, wire.ErrMalformed) || !strings.Contains(err.Error(), `"`+key+`"`) {
				t.Errorf("%s: %v: the error is %v", key, value, err)
			}
			if s == nil || s.Type != Unknown || !errors.Is(s.Error, wire.ErrMalformed) {
				t.Errorf("%s: %v: the description is %+v", key, value, s)
			}
		}
	}
}

func TestMalformedBytesAreAnError(t *testing.T) {
	good := hello(t, doc("setName", "rs", "hosts", bson.A{"a:27017"}))
	for n := range len(good) {
		if _, err := ParseHello("a:27017", good[:n]); !errors.Is(err, wire.ErrMalformed) {
			t.Fatalf("%d bytes of %d: the error is %v", n, len(good), err)
		}
	}
}

func FuzzParseHello(f *testing.F) {
	f.Fuzz(func(t *testing.T, doc []byte) {
		s, err := ParseHello("a:27017", doc)
		switch {
		case s == nil:
			t.Fatal("no description")
		case err != nil && (s.Type != Unknown || !errors.Is(s.Error, err)):
			t.Fatalf("%v, but the description is %+v", err, s)
		case err == nil && (!s.Known() || s.Error != nil || s.MaxDocumentSize <= 0 || s.MaxMessageSize <= 0 || s.MaxBatchCount <= 0):
			t.Fatalf("no error, but the description is %+v", s)
		}
		if again, _ := ParseHello("a:27017", doc); !again.Equal(s) {
			t.Fatalf("the same bytes give %+v and %+v", s, again)
		}
		applyEverywhere(t, s)
	})
}

// applyEverywhere checks rules of Apply that hold for every server description.
func applyEverywhere(t *testing.T, s *Server) {
	t.Helper()
	for _, cfg := range []Config{
		{Seeds: []string{"a:27017"}},
		{Seeds: []string{"a:27017", "b:27017"}},
		{Seeds: []string{"a:27017"}, SetName: "rs"},
		{Seeds: []string{"a:27017"}, Direct: ptr(true)},
	} {
		d, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		before := *d
		next := Apply(d, s)
		if !reflect.DeepEqual(*d, before) {
			t.Fatalf("the former description changed: %+v", d)
		}
		if again := Apply(next, s); !again.Equal(next) {
			t.Fatalf("applied once the description is %+v, applied twice %+v", next, again)
		}
	}
}
