package couchbase

// Meter makes counters and recorders. It must be safe for concurrent use.
type Meter interface {
	Counter(name string, tags map[string]string) (Counter, error)
	ValueRecorder(name string, tags map[string]string) (ValueRecorder, error)
}

// Counter counts. It must be safe for concurrent use.
type Counter interface {
	IncrementBy(num uint64)
}

// ValueRecorder records values: for durations, microseconds. It must be safe for concurrent use.
type ValueRecorder interface {
	RecordValue(val uint64)
}

// NoopMeter is a meter that does nothing.
type NoopMeter struct{}

var _ Meter = (*NoopMeter)(nil)

// Counter returns a counter that does nothing.
func (nm *NoopMeter) Counter(string, map[string]string) (Counter, error) {
	return noopInstrument{}, nil
}

// ValueRecorder returns a recorder that does nothing.
func (nm *NoopMeter) ValueRecorder(string, map[string]string) (ValueRecorder, error) {
	return noopInstrument{}, nil
}

type noopInstrument struct{}

func (noopInstrument) IncrementBy(uint64) {}
func (noopInstrument) RecordValue(uint64) {}
