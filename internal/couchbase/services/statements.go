package services

import (
	"container/list"
	"sync"
)

// The limits of the cache of prepared statements.
const (
	maxStatements     = 1000
	maxStatementBytes = 8 << 20
)

// statementKey is what a prepared statement is found by: the same text means another statement in another query context.
type statementKey struct{ statement, context string }

// prepared is a prepared statement.
type prepared struct {
	key  statementKey
	name string
	plan string // the encoded plan; "": all nodes know the name
}

func (p *prepared) size() int {
	return len(p.key.statement) + len(p.key.context) + len(p.name) + len(p.plan)
}

// statements is the cache of prepared statements. The one that was not used for the longest time leaves first.
type statements struct {
	mu     sync.Mutex
	byKey  map[statementKey]*list.Element
	recent list.List // of *prepared, the one used last at the front
	size   int
}

func (s *statements) get(key statementKey) *prepared {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.byKey[key]
	if e == nil {
		return nil
	}
	s.recent.MoveToFront(e)
	return e.Value.(*prepared)
}

func (s *statements) put(p *prepared) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byKey == nil {
		s.byKey = make(map[statementKey]*list.Element)
	}
	if e := s.byKey[p.key]; e != nil {
		s.drop(e)
	}
	s.byKey[p.key] = s.recent.PushFront(p)
	s.size += p.size()
	for s.recent.Len() > maxStatements || s.size > maxStatementBytes {
		s.drop(s.recent.Back())
	}
}

// remove forgets a statement, unless another one has taken its place.
func (s *statements) remove(p *prepared) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.byKey[p.key]; e != nil && e.Value == p {
		s.drop(e)
	}
}

func (s *statements) drop(e *list.Element) {
	p := s.recent.Remove(e).(*prepared)
	delete(s.byKey, p.key)
	s.size -= p.size()
}
