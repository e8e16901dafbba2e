package metrics

import "sync"

// MaxSeries is the largest number of series of a metric that a source keeps: a program that uses ever more collections must not take ever more memory.
const MaxSeries = 2000

// series are those of one metric.
type series struct {
	definition Definition
	backend    Backend

	mu   sync.RWMutex
	made map[values]Record
}

// of returns what records the values of a series.
func (s *series) of(v values) Record {
	s.mu.RLock()
	record, ok := s.made[v]
	s.mu.RUnlock()
	if ok {
		return record
	}
	return s.make(v)
}

func (s *series) make(v values) Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	if record, ok := s.made[v]; ok {
		return record // of another goroutine
	}
	attributes := make([]string, len(s.definition.Attributes))
	for i := range attributes {
		attributes[i] = valid(v[i])
	}
	if len(s.made) >= MaxSeries {
		return s.overflow(attributes)
	}
	s.made[v] = s.backend.Series(s.definition, attributes)
	return s.made[v]
}

func (s *series) overflow(attributes []string) Record {
	if s.backend.Overflow != nil {
		return s.backend.Overflow(s.definition, attributes)
	}
	return s.backend.Series(s.definition, attributes)
}
