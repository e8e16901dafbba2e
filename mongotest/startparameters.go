package mongotest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// StartParameters sets server parameters that every member begins with, as `mongod --setParameter` does; their values are
// texts. [ParameterNames] are those that there are.
func StartParameters(values map[string]string) Option {
	return deploymentOption(func(c *config) { c.startParameters = values })
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
		p, err := defaultParameters()[name].parse(c.startParameters[name])
		if err != nil {
			return fmt.Errorf("mongotest: StartParameters: %s: %w", name, err)
		}
		if err := checkParameter(name, p.value); err != nil {
			return fmt.Errorf("mongotest: StartParameters: %s", err.Message)
		}
	}
	return nil
}

// parse reads a value of the parameter's type.
func (p parameter) parse(text string) (parameter, error) {
	switch p.value.Type {
	case bson.TypeInt32:
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return p, fmt.Errorf("%q is no whole number of 32 bits", text)
		}
		p.value = query.Int32(int32(n))
	case bson.TypeInt64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return p, fmt.Errorf("%q is no whole number of 64 bits", text)
		}
		p.value = query.Int64(n)
	case bson.TypeDouble:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return p, fmt.Errorf("%q is no number", text)
		}
		p.value = double(f)
	default:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return p, fmt.Errorf("%q is neither true nor false", text)
		}
		p.value = truth(b)
	}
	return p, nil
}
