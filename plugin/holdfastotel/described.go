package holdfastotel

import (
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfast-db/holdfast/telemetry"
)

// maxDescribed is the largest number of descriptions that are kept. If a program has more, they are made anew from time to time.
const maxDescribed = 2000

// descriptions keeps what is the same for many spans, by a key that has all that it is made of. It is safe for concurrent use.
type descriptions[K comparable, D any] struct {
	mu   sync.RWMutex
	kept map[K]D
}

// of returns the description of a key, and makes it if it is not kept.
func (d *descriptions[K, D]) of(key K, describe func(K) D) D {
	d.mu.RLock()
	known, ok := d.kept[key]
	d.mu.RUnlock()
	if ok {
		return known
	}
	made := describe(key)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kept == nil || len(d.kept) >= maxDescribed {
		d.kept = make(map[K]D)
	}
	d.kept[key] = made
	return made
}

// subject is what the span of an operation is about.
type subject struct {
	system                      telemetry.System
	name, namespace, collection string
}

// start is how the span of an operation begins.
type start struct {
	name    string
	options []trace.SpanStartOption
}

func startOf(s subject) start {
	name := summary(s.name, s.namespace, s.collection)
	attributes := append(ofNamespace(s.system, s.namespace, s.collection),
		attribute.String("db.operation.name", s.name), attribute.String("db.operation.summary", name))
	return start{name, []trace.SpanStartOption{kindClient, trace.WithAttributes(attributes...)}}
}

// message is what the span of an attempt is about.
type message struct {
	operation string
	subject
	address string
}

// ofMessage are the attributes that all messages of one command to one server have.
func ofMessage(m message) []attribute.KeyValue {
	return append(append(ofNamespace(m.system, m.namespace, m.collection),
		attribute.String("db.operation.name", m.operation), attribute.String("db.command.name", m.name),
		attribute.String("db.query.summary", summary(m.name, m.namespace, m.collection))),
		ofAddress(m.address)...)
}
