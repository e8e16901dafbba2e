package mongotest

import (
	"errors"
	"fmt"
	"iter"

	"github.com/holdfast-db/holdfast/mongotest/internal/setconfig"
	"github.com/holdfast-db/holdfast/mongotest/internal/writeconcern"
)

// checkModes tells which rule the options WriteConcernMode break.
func checkModes(modes setconfig.Modes, members iter.Seq[*setconfig.Member]) error {
	for name, tags := range modes {
		switch {
		case name == "":
			return errors.New("mongotest: WriteConcernMode: the name is empty")
		case name == writeconcern.Majority:
			return errors.New("mongotest: WriteConcernMode: every set has the mode majority")
		case len(tags) == 0:
			return fmt.Errorf("mongotest: WriteConcernMode(%q): it names no tag", name)
		}
		for _, c := range tags {
			if c.Values < 1 {
				return fmt.Errorf("mongotest: WriteConcernMode(%q): the tag %q needs a number above 0; found %d", name, c.Tag, c.Values)
			}
		}
	}
	if err := modes.Check(members); err != nil {
		return fmt.Errorf("mongotest: WriteConcernMode: %s", err.Message)
	}
	return nil
}
