package explain

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// writing would update or delete what it gets.
type writing struct {
	withInput
	*Query
	matched  int32
	upserted bool
}

func (s *writing) name() string {
	switch {
	case s.Kind == Update:
		return "UPDATE"
	case s.Multi:
		return "BATCHED_DELETE"
	}
	return "DELETE"
}

func (s *writing) done() bool { return !s.Multi && s.matched > 0 }
func (s *writing) eof() bool {
	return s.done() || s.input.eof() && (!s.Upsert || s.upserted || s.matched > 0)
}

func (s *writing) step() (state, *store.Record) {
	if s.done() || s.upserted {
		return ended, nil
	}
	st, r := ended, (*store.Record)(nil)
	if !s.input.eof() || s.Kind == Delete && s.Multi {
		st, r = work(s.input)
	}
	if st == ended {
		s.upserted = s.Upsert && s.matched == 0
	}
	if s.upserted && s.After {
		return advanced, nil
	}
	if st != advanced {
		return st, nil
	}
	s.matched++
	switch {
	case s.Returns:
		return advanced, r
	case s.done() || s.Kind == Update && s.eof():
		return ended, nil
	}
	return needTime, nil
}

func (s *writing) appendFigures(dst []byte) []byte {
	if s.Kind == Delete {
		return wire.AppendInt32(dst, "nWouldDelete", s.matched)
	}
	dst = wire.AppendInt32(wire.AppendInt32(dst, "nMatched", s.matched), "nWouldModify", s.matched)
	return wire.AppendInt32(dst, "nWouldUpsert", truth(s.upserted))
}
