package mongotest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/parameter"
)

// StartParameters sets server parameters that every member begins with, as `mongod --setParameter` does; their values are
// texts. [ParameterNames] are those that there are.
func StartParameters(values map[string]string) Option {
	return deploymentOption(func(c *config) { c.startParameters = values })
}

// ParameterNames returns the names of the server parameters that a server can be started with, in order.
func ParameterNames() []string { return parameter.Names() }

// checkParameters refuses start parameters that there are not, and values that they cannot have.
func (c *config) checkParameters() error {
	for _, name := range slices.Sorted(maps.Keys(c.startParameters)) {
		if err := parameter.CheckText(name, c.startParameters[name]); err != nil {
			return fmt.Errorf("mongotest: StartParameters: %w", err)
		}
	}
	return nil
}
