package metrics

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"
)

// MaxSeries is the largest number of series of a metric that a source keeps: a program that uses ever more collections must not take ever more memory.
const MaxSeries = 2000

// series are those of one metric.
type series struct {
	definition Definition
	backend    Backend

	mu   sync.Mutex // of changes
	made atomic.Pointer[map[values]Record]
}

// of returns what records the values of a series. It takes no lock for one that was made: all operations of a program come here.
func (s *series) of(v values) Record {
	if record, ok := (*s.made.Load())[v]; ok {
		return record
	}
	return s.make(v)
}

func (s *series) make(v values) Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := *s.made.Load()
	if record, ok := before[v]; ok {
		return record // of another goroutine
	}
	attributes := make([]string, len(s.definition.Attributes))
	for i := range attributes {
		attributes[i] = strings.ToValidUTF8(v[i], "\uFFFD")
	}
	if len(before) >= MaxSeries {
		return s.overflow(attributes)
	}
	made := maps.Clone(before)
	made[v] = s.backend.Series(s.definition, attributes)
	s.made.Store(&made)
	return made[v]
}

func (s *series) overflow(attributes []string) Record {
	if s.backend.Overflow != nil {
		return s.backend.Overflow(s.definition, attributes)
	}
	return s.backend.Series(s.definition, attributes)
}
