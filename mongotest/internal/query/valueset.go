package query

// ValueSet is a set of values, of which two that Compare finds equal are one. The zero ValueSet is empty.
type ValueSet struct {
	known map[string]struct{}
}

// Add adds a value, and reports whether the set did not have it.
func (s *ValueSet) Add(v Value) bool {
	key := AppendKey(make([]byte, 0, 16+len(v.Data)), v)
	if _, ok := s.known[string(key)]; ok {
		return false
	}
	if s.known == nil {
		s.known = make(map[string]struct{})
	}
	s.known[string(key)] = struct{}{}
	return true
}

// Has reports whether the set has a value.
func (s *ValueSet) Has(v Value) bool {
	_, ok := s.known[string(AppendKey(make([]byte, 0, 16+len(v.Data)), v))]
	return ok
}

// setOf returns the set of some values, of their keys by a collation; nil for none.
func setOf(c Collation, values []Value) *ValueSet {
	s := &ValueSet{known: make(map[string]struct{}, len(values))}
	for _, v := range values {
		s.Add(Keyed(c, v))
	}
	return s
}
