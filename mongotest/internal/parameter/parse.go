package parameter

import (
	"errors"
	"fmt"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// CheckText refuses what a server cannot be started with.
func CheckText(name, text string) error {
	p, ok := defaults()[name]
	if !ok {
		return fmt.Errorf("there is no parameter %q to start with", name)
	}
	p, err := p.parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := checkLeast(name, p.Value); err != nil {
		return errors.New(err.Message)
	}
	return nil
}

// parse reads a value of the parameter's type.
func (p Parameter) parse(text string) (Parameter, error) {
	switch p.Value.Type {
	case bson.TypeInt32:
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return p, fmt.Errorf("%q is no whole number of 32 bits", text)
		}
		p.Value = query.Int32(int32(n))
	case bson.TypeInt64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return p, fmt.Errorf("%q is no whole number of 64 bits", text)
		}
		p.Value = query.Int64(n)
	case bson.TypeDouble:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return p, fmt.Errorf("%q is no number", text)
		}
		p.Value = query.Double(f)
	default:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return p, fmt.Errorf("%q is neither true nor false", text)
		}
		p.Value = truth(b)
	}
	return p, nil
}
