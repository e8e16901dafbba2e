package metrics

import "sync"

// MaxSeries is the largest number of series of a metric that a source keeps: a program that uses ever more collections must not take ever more memory.
const MaxSeries = 2000

// series are those of one metric.
type series struct {
	definition Definition
	backend    Backend

	recent recent
	mu     sync.RWMutex
	all    map[values]*made
}

// made is a series.
type made struct {
	of     values
	record Record
}

// of returns what records the values of a series.
func (s *series) of(v *values) Record {
	place := s.recent.place(v)
	one := place.Load()
	if one != nil && one.of == *v {
		return one.record
	}
	s.mu.RLock()
	one = s.all[*v]
	s.mu.RUnlock()
	if one == nil {
		return s.make(*v)
	}
	place.CompareAndSwap(nil, one)
	return one.record
}

// ofOne is of for a metric with one attribute, at less cost.
func (s *series) ofOne(value string) Record {
	if one := s.recent.placeOfOne(value).Load(); one != nil && one.of[0] == value {
		return one.record
	}
	return s.of(&values{value})
}

func (s *series) make(v values) Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.all[v]; one != nil {
		return one.record // of another goroutine
	}
	attributes := make([]string, len(s.definition.Attributes))
	for i := range attributes {
		attributes[i] = valid(v[i])
	}
	if len(s.all) >= MaxSeries {
		return s.overflow(attributes)
	}
	one := &made{v, s.backend.Series(s.definition, attributes)}
	s.all[v] = one
	return one.record
}

func (s *series) overflow(attributes []string) Record {
	if s.backend.Overflow != nil {
		return s.backend.Overflow(s.definition, attributes)
	}
	return s.backend.Series(s.definition, attributes)
}
