package mongotest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// StartParameters sets server parameters that every member begins with, as `mongod --setParameter` does; their values are
// texts. [ParameterNames] are those that there are.
func StartParameters(values map[string]string) Option {
	return func(c *config) { c.startParameters = values }
}

// ParameterNames returns the names of the server parameters that a server can be started with, in order.
func ParameterNames() []string {
	return slices.Sorted(maps.Keys(defaultParameters()))
}

// checkParameters refuses start parameters that there are not, and values that they cannot have.
func (c *config) checkParameters() error {
	for _, name := range slices.Sorted(maps.Keys(c.startParameters)) {
		if !slices.Contains(ParameterNames(), name) {
			return fmt.Errorf("mongotest: StartParameters: there is no parameter %q to start with", name)
		}
		if _, err := defaultParameters()[name].parse(c.startParameters[name]); err != nil {
			return fmt.Errorf("mongotest: StartParameters: %s: %w", name, err)
		}
	}
	return nil
}

// parse reads a value of the parameter's type.
func (p parameter) parse(text string) (parameter, error) {
	if p.value.IsNumber() {
		n, err := strconv.ParseInt(text, 10, 32)
		p.value = query.Int32(int32(n))
		return p, err
	}
	b, err := strconv.ParseBool(text)
	p.value = truth(b)
	return p, err
}
