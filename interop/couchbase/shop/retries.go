package shop

import (
	"maps"
	"sync"
	"time"

	gocb "github.com/couchbase/gocb/v2"
)

// countingStrategy counts the retries by reason. It does not retry an operation on a locked document: the customer decides. Everything
// else it leaves to the best effort strategy.
type countingStrategy struct {
	rest *gocb.BestEffortRetryStrategy

	mu    sync.Mutex
	asked map[string]int
}

var _ gocb.RetryStrategy = (*countingStrategy)(nil)

func newCountingStrategy() *countingStrategy {
	backoff := gocb.BackoffCalculator(func(retries uint32) time.Duration {
		return min(time.Duration(retries+1)*2*time.Millisecond, 50*time.Millisecond)
	})
	return &countingStrategy{rest: gocb.NewBestEffortRetryStrategy(backoff), asked: make(map[string]int)}
}

// RetryAfter decides about one retry.
func (s *countingStrategy) RetryAfter(request gocb.RetryRequest, reason gocb.RetryReason) gocb.RetryAction {
	s.mu.Lock()
	s.asked[reason.Description()]++
	s.mu.Unlock()
	if reason == gocb.KVLockedRetryReason {
		return &gocb.NoRetryRetryAction{}
	}
	return s.rest.RetryAfter(request, reason)
}

func (s *countingStrategy) counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.asked)
}

// meter counts the requests by operation.
type meter struct {
	mu    sync.Mutex
	count map[string]uint64
}

type recorder struct {
	meter *meter
	name  string
}

var _ gocb.Meter = (*meter)(nil)

func newMeter() *meter { return &meter{count: make(map[string]uint64)} }

// Counter returns the counter of a name.
func (m *meter) Counter(name string, _ map[string]string) (gocb.Counter, error) {
	return recorder{m, name}, nil
}

// ValueRecorder returns the recorder of an operation's times.
func (m *meter) ValueRecorder(_ string, tags map[string]string) (gocb.ValueRecorder, error) {
	return recorder{m, tags["db.operation"]}, nil
}

func (r recorder) IncrementBy(n uint64) { r.meter.add(r.name, n) }
func (r recorder) RecordValue(uint64)   { r.meter.add(r.name, 1) }

func (m *meter) add(name string, n uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count[name] += n
}

func (m *meter) counts() map[string]uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.count)
}
