package couchbase

import "time"

// RequestTracer makes spans. It must be safe for concurrent use.
type RequestTracer interface {
	// RequestSpan returns a new span. parentContext is what the parent's Context returned, or nil if it has none.
	RequestSpan(parentContext RequestSpanContext, operationName string) RequestSpan
}

// RequestSpan is the time of an operation, or of a part of it.
type RequestSpan interface {
	End()
	Context() RequestSpanContext
	AddEvent(name string, timestamp time.Time)
	SetAttribute(key string, value any)
}

// RequestSpanContext is what a tracer needs to make a child of a span.
type RequestSpanContext any

// NoopTracer is a tracer that does nothing.
type NoopTracer struct{}

var _ RequestTracer = (*NoopTracer)(nil)

// RequestSpan returns a span that does nothing.
func (tracer *NoopTracer) RequestSpan(RequestSpanContext, string) RequestSpan { return noopSpan{} }

type noopSpan struct{}

func (noopSpan) End()                        {}
func (noopSpan) Context() RequestSpanContext { return nil }
func (noopSpan) AddEvent(string, time.Time)  {}
func (noopSpan) SetAttribute(string, any)    {}
