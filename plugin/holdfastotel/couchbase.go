package holdfastotel

import (
	"context"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfast-db/holdfast/telemetry"
	"github.com/holdfast-db/holdfast/telemetry/metrics"
)

// conventions are the names of attributes of Couchbase's spans: those that gocb has always had, those of the stable conventions, or both (RFC 0067).
type conventions struct{ old, stable bool }

// conventionsOf reads a list in the form of OTEL_SEMCONV_STABILITY_OPT_IN. What it names for others than databases is left to them.
func conventionsOf(list string) conventions {
	chosen := conventions{old: true}
	for name := range strings.SplitSeq(list, ",") {
		switch strings.TrimSpace(name) {
		case "database/dup":
			return conventions{old: true, stable: true} // it wins
		case "database":
			chosen = conventions{stable: true}
		}
	}
	return chosen
}

// The names of the spans below that of an operation.
const (
	spanEncoding = "request_encoding"
	spanDispatch = "dispatch_to_server"
)

// couchbaseSpans makes the spans of Couchbase clients. It is safe for concurrent use.
type couchbaseSpans struct {
	tracer trace.Tracer
	conventions
}

// couchbaseOperation is the span of an operation, with the latest one below it.
type couchbaseOperation struct {
	trace.Span
	encoding, dispatch trace.Span
}

type couchbaseKey struct{}

// newCouchbaseSpans returns a tracer that makes the spans of Couchbase clients.
func newCouchbaseSpans(tracer trace.Tracer, c conventions) *telemetry.Tracer {
	s := &couchbaseSpans{tracer, c}
	return &telemetry.Tracer{
		OperationBegan: s.operationBegan, OperationEnded: s.operationEnded,
		EncodingBegan: s.encodingBegan, EncodingEnded: s.encodingEnded,
		AttemptBegan: s.attemptBegan, AttemptEnded: s.attemptEnded,
	}
}

// in returns the span of an operation, nil if it has none: it is one of another database, or what the client does for itself. The context may be
// made from that of another operation.
func (s *couchbaseSpans) in(ctx context.Context, o *telemetry.Operation) *couchbaseOperation {
	if o == nil || o.System != telemetry.Couchbase {
		return nil
	}
	span, _ := ctx.Value(couchbaseKey{}).(*couchbaseOperation)
	return span
}

func (s *couchbaseSpans) operationBegan(ctx context.Context, o *telemetry.Operation) context.Context {
	if o.System != telemetry.Couchbase {
		return ctx
	}
	made, span := s.tracer.Start(ctx, o.Name, kindClient, trace.WithAttributes(s.ofOperation(o)...))
	return context.WithValue(made, couchbaseKey{}, &couchbaseOperation{Span: span})
}

func (s *couchbaseSpans) operationEnded(ctx context.Context, o *telemetry.Operation, err error) {
	if in := s.in(ctx, o); in != nil {
		s.fail(in.Span, err, o.ErrorType)
		in.End()
	}
}

func (s *couchbaseSpans) encodingBegan(ctx context.Context, o *telemetry.Operation) context.Context {
	in := s.in(ctx, o)
	if in == nil {
		return ctx
	}
	ctx, in.encoding = s.tracer.Start(trace.ContextWithSpan(ctx, in.Span), spanEncoding, kindClient, trace.WithAttributes(s.ofCluster(o)...))
	return ctx
}

func (s *couchbaseSpans) encodingEnded(ctx context.Context, o *telemetry.Operation, err error) {
	if in := s.in(ctx, o); in != nil && in.encoding != nil {
		s.fail(in.encoding, err, "")
		in.encoding.End()
	}
}

func (s *couchbaseSpans) attemptBegan(ctx context.Context, a *telemetry.Attempt) context.Context {
	in := s.in(ctx, a.Operation)
	if in == nil {
		return ctx
	}
	ctx, in.dispatch = s.tracer.Start(trace.ContextWithSpan(ctx, in.Span), spanDispatch, kindClient, trace.WithAttributes(s.ofDispatch(a)...))
	return ctx
}

func (s *couchbaseSpans) attemptEnded(ctx context.Context, a *telemetry.Attempt, r *telemetry.Result) {
	in := s.in(ctx, a.Operation)
	if in == nil || in.dispatch == nil {
		return
	}
	var list attributes
	list.add(s.conventions, "db.couchbase.operation_id", "couchbase.operation_id", r.Identifier)
	if us := r.Server.Microseconds(); us > 0 {
		list = append(list, s.numbers("db.couchbase.server_duration", "couchbase.server_duration", us)...)
	}
	code := statusCode(r.Code)
	list.add(s.conventions, "", "db.response.status_code", code)
	in.dispatch.SetAttributes(list...)
	s.fail(in.dispatch, r.Err, code)
	in.dispatch.End()
}

// fail gives a span the state of what failed, if there is an error.
func (s *couchbaseSpans) fail(span trace.Span, err error, kind string) {
	if err == nil {
		return
	}
	span.SetStatus(codes.Error, err.Error())
	if s.stable {
		span.SetAttributes(errorType(err, kind))
	}
}

// attributes are those of a span.
type attributes []attribute.KeyValue

// add adds a text by its old name and by its stable one, if it is not empty. A name that is empty does not exist.
func (a *attributes) add(c conventions, old, stable, value string) {
	if value == "" {
		return
	}
	if c.old && old != "" {
		*a = append(*a, attribute.String(old, value))
	}
	if c.stable && stable != "" {
		*a = append(*a, attribute.String(stable, value))
	}
}

// numbers is add for a number.
func (c conventions) numbers(old, stable string, value int64) attributes {
	var list attributes
	if c.old && old != "" {
		list = append(list, attribute.Int64(old, value))
	}
	if c.stable && stable != "" {
		list = append(list, attribute.Int64(stable, value))
	}
	return list
}

// ofCluster returns what all spans have.
func (c conventions) ofCluster(o *telemetry.Operation) attributes {
	var list attributes
	list.add(c, "db.system", "db.system.name", string(telemetry.Couchbase))
	list.add(c, "db.couchbase.cluster_name", "couchbase.cluster.name", o.Cluster)
	list.add(c, "db.couchbase.cluster_uuid", "couchbase.cluster.uuid", o.ClusterUUID)
	return list
}

// stableDurability has the stable names of the levels of durability.
var stableDurability = map[string]string{
	"majority": "majority", "majorityAndPersistActive": "majority_and_persist_active", "persistToMajority": "persist_majority",
}

func (c conventions) ofOperation(o *telemetry.Operation) attributes {
	list := c.ofCluster(o)
	list.add(c, "db.couchbase.service", "couchbase.service", o.Service)
	list.add(c, "db.operation", "db.operation.name", o.Name)
	list.add(c, "db.name", "db.namespace", o.Namespace)
	list.add(c, "db.couchbase.scope", "couchbase.scope.name", o.Scope)
	list.add(c, "db.couchbase.collection", "couchbase.collection.name", o.Collection)
	list.add(c, "db.couchbase.durability", "", o.Durability)
	list.add(c, "", "couchbase.durability", stableDurability[o.Durability])
	list.add(c, "db.statement", "db.query.text", o.Statement)
	return list
}

func (c conventions) ofDispatch(a *telemetry.Attempt) attributes {
	list := c.ofCluster(a.Operation)
	list.add(c, "net.transport", "", "IP.TCP")
	list.add(c, "", "network.transport", "tcp")
	list.add(c, "db.couchbase.local_id", "couchbase.local_id", a.Connection.Name)
	list = append(list, c.ofSocket(a.Connection.Remote, "net.peer.name", "network.peer.address", "net.peer.port", "network.peer.port")...)
	list = append(list, c.ofSocket(a.Connection.Local, "net.host.name", "", "net.host.port", "")...)
	list = append(list, c.ofSocket(a.Connection.Address, "", "server.address", "", "server.port")...)
	return append(list, c.numbers("db.couchbase.retries", "couchbase.retries", int64(a.Number))...)
}

// ofSocket returns the host and the port of an address. The old name of a port has a text, the stable one a number.
func (c conventions) ofSocket(address, oldHost, stableHost, oldPort, stablePort string) attributes {
	host, port := metrics.Server(address)
	if port == "" {
		return nil
	}
	number, _ := strconv.ParseInt(port, 10, 64) // it is one
	var list attributes
	list.add(c, oldHost, stableHost, host)
	list.add(c, oldPort, "", port)
	return append(list, c.numbers("", stablePort, number)...)
}
