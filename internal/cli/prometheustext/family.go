package prometheustext

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/holdfast-db/holdfast/telemetry/metrics"
)

// family is a metric that is recorded, with all its series.
type family struct {
	definition metrics.Definition
	mu         sync.Mutex
	series     map[string]*series // by their attributes
}

// of returns the series with these values of the attributes.
func (f *family) of(attributes []string) *series {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := strings.Join(attributes, "\x00")
	one := f.series[key]
	if one == nil {
		one = &series{attributes: slices.Clone(attributes), boundaries: f.definition.Boundaries}
		one.buckets = make([]atomic.Uint64, len(one.boundaries)+1)
		f.series[key] = one
	}
	return one
}

// all returns the series in the order of their attributes.
func (f *family) all() []*series {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]*series, 0, len(f.series))
	for _, one := range f.series {
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b *series) int { return slices.Compare(a.attributes, b.attributes) })
	return list
}

// series is a histogram, or a counter, which has one bucket.
type series struct {
	attributes []string
	boundaries []float64
	buckets    []atomic.Uint64 // how many values each has, without those of the buckets before it
	sum        atomic.Uint64   // the bits of a float64
}

func (s *series) record(_ context.Context, value float64) {
	at := 0
	for at < len(s.boundaries) && value > s.boundaries[at] { // a boundary belongs to its bucket
		at++
	}
	s.buckets[at].Add(1)
	for value != 0 {
		old := s.sum.Load()
		if s.sum.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+value)) {
			return
		}
	}
}

func (s *series) total() float64 { return math.Float64frombits(s.sum.Load()) }
