package expr

import (
	"strings"
	"unicode/utf8"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// Scope holds the names of the variables that an expression may use.
type Scope struct {
	outer *Scope
	name  string
	slot  int
	slots map[string]int // of all names, in a scope of many; nil if not known yet

	collation query.Collation // by which expressions compare strings, nil if by their bytes
	version   version.Version // of the server; zero: the newest
}

// NewScope returns a scope of variables, whose values Env.Vars holds in the same order.
func NewScope(names ...string) *Scope {
	var s *Scope
	for _, name := range names {
		s = s.with(name)
	}
	return s
}

// By returns the scope for expressions that compare strings by a collation.
func (s *Scope) By(c query.Collation) *Scope {
	if c == nil {
		return s
	}
	by := s.orEmpty()
	by.collation = c
	return &by
}

// At returns the scope for expressions of a version of the server.
func (s *Scope) At(v version.Version) *Scope {
	if v.IsZero() {
		return s
	}
	at := s.orEmpty()
	at.version = v
	return &at
}

// orEmpty returns a copy of the scope, or a scope without variables for nil.
func (s *Scope) orEmpty() Scope {
	if s == nil {
		return Scope{slot: -1}
	}
	return *s
}

// serverVersion is the version of the server, zero for the newest.
func (s *Scope) serverVersion() version.Version {
	if s == nil {
		return version.Version{}
	}
	return s.version
}

// Collation is how expressions compare strings; nil if by their bytes.
func (s *Scope) Collation() query.Collation {
	if s == nil {
		return nil
	}
	return s.collation
}

// with returns a scope inside s with one more variable.
func (s *Scope) with(name string) *Scope {
	return &Scope{outer: s, name: name, slot: s.size(), collation: s.Collation(), version: s.serverVersion()}
}

// size returns how many slots the scope's variables take.
func (s *Scope) size() int {
	if s == nil {
		return 0
	}
	return s.slot + 1
}

// The slots of the variables that every expression has.
const (
	slotRoot = -1 - iota
	slotNow
	slotClusterTime
	slotRemove
	slotAbsent // known by name, never with a value here
)

var systemVariables = map[string]int{
	"ROOT": slotRoot, "CURRENT": slotRoot, "NOW": slotNow, "CLUSTER_TIME": slotClusterTime, "REMOVE": slotRemove,
	"JS_SCOPE": slotAbsent, "IS_MR": slotAbsent,
}

// lookup returns the slot of a variable.
func (s *Scope) lookup(name string) (slot int, ok bool) {
	if s.size() > 16 {
		if slot, ok = s.all()[name]; ok {
			return slot, true
		}
	} else {
		for at := s; at != nil; at = at.outer {
			if at.name == name {
				return at.slot, true
			}
		}
	}
	slot, ok = systemVariables[name]
	return slot, ok
}

// all returns the slots of all names.
func (s *Scope) all() map[string]int {
	if s.slots == nil {
		s.slots = make(map[string]int)
		for at := s; at != nil; at = at.outer {
			if _, hidden := s.slots[at.name]; !hidden {
				s.slots[at.name] = at.slot
			}
		}
	}
	return s.slots
}

// checkVariable refuses a name that a user's variable cannot have.
func checkVariable(name string) error {
	if name == "CURRENT" {
		return nil
	}
	if name == "" {
		return mongoerr.Errorf(mongoerr.FailedToParse, "empty variable names are not allowed")
	}
	if first := name[0]; first < utf8.RuneSelf && (first < 'a' || first > 'z') {
		return mongoerr.Errorf(mongoerr.FailedToParse, "'%s' starts with an invalid character for a user variable name", name)
	}
	return checkVariableRest(name)
}

// checkVariableUse refuses a name that no variable can have, the system's included.
func checkVariableUse(name string) error {
	if name == "" {
		return mongoerr.Errorf(mongoerr.FailedToParse, "empty variable names are not allowed")
	}
	first := name[0]
	if first < utf8.RuneSelf && !letter(first) {
		return mongoerr.Errorf(mongoerr.FailedToParse, "'%s' starts with an invalid character for a user variable name", name)
	}
	return checkVariableRest(name)
}

func checkVariableRest(name string) error {
	at := strings.IndexFunc(name, func(r rune) bool {
		return r < utf8.RuneSelf && !letter(byte(r)) && (r < '0' || r > '9') && r != '_'
	})
	if at > 0 {
		return mongoerr.Errorf(mongoerr.FailedToParse, "'%s' contains an invalid character for a variable name: '%c'", name, name[at])
	}
	return nil
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
