package mongotest

import (
	"errors"
	"fmt"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
)

// majorityMode is the write concern mode that every set has.
const majorityMode = "majority"

// checkModes tells which rule the write concern modes of a configuration break.
func checkModes(modes map[string]map[string]int) error {
	for name, tags := range modes {
		switch {
		case name == "":
			return errors.New("mongotest: WriteConcernMode: the name is empty")
		case name == majorityMode:
			return errors.New("mongotest: WriteConcernMode: every set has the mode majority")
		case len(tags) == 0:
			return fmt.Errorf("mongotest: WriteConcernMode(%q): it names no tag", name)
		}
		for tag, n := range tags {
			if n < 1 {
				return fmt.Errorf("mongotest: WriteConcernMode(%q): the tag %q needs a number above 0; found %d", name, tag, n)
			}
		}
	}
	return nil
}

// checkLocked refuses a write concern that the set can never satisfy.
func (w *writeConcern) checkLocked(rs *Deployment) *mongoerr.Error {
	switch {
	case w.mode == "" || w.mode == majorityMode:
		if w.members > rs.bearersLocked() {
			return mongoerr.Errorf(mongoerr.UnsatisfiableWriteConcern, "Not enough data-bearing nodes")
		}
	case rs.modes[w.mode] == nil:
		return mongoerr.Errorf(mongoerr.UnknownReplWriteConcern, "No write concern mode named '%s' found in replica set configuration", w.mode)
	case !rs.satisfiesLocked(w.mode, func(*member) bool { return true }):
		return mongoerr.Errorf(mongoerr.UnsatisfiableWriteConcern, "Not enough nodes match write concern mode \"%s\"", w.mode)
	}
	return nil
}

// satisfiesLocked reports whether the members that have a write, of those with data, are as many and as different as a mode asks.
func (rs *Deployment) satisfiesLocked(mode string, has func(*member) bool) bool {
	for tag, n := range rs.modes[mode] {
		values := make(map[string]bool)
		for _, m := range rs.members {
			if v := m.config.Tag(tag); v != "" && m.config.BearsData() && has(m) {
				values[v] = true
			}
		}
		if len(values) < n {
			return false
		}
	}
	return true
}
