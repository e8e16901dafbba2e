package expr

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// maxMemory is how many bytes the real server lets one operator or accumulator keep.
const maxMemory = 100 << 20

// mapLoop is $map.
type mapLoop struct{ loop }

func parseMap(p *parser, _ *operator, v Value) (Expression, error) {
	args, err := named(v, refusal{16878, "$map only supports an object as its argument"},
		refusal{16879, "Unrecognized parameter to $map: %[2]s"}, "input", "as", "in", "arrayIndexAs")
	if err != nil {
		return nil, err
	}
	m := &mapLoop{}
	err = m.parse(p, args, loopParts{
		input: refusal{16880, "Missing 'input' parameter to $map"}, bodyName: "in", body: refusal{16882, "Missing 'in' parameter to $map"},
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (m *mapLoop) Eval(env *Env) (Value, error) {
	elements, ok, err := m.elements(env, func(v Value) error {
		return mongoerr.Errorf(16883, "input to $map must be an array not %s", typeName(v))
	})
	if err != nil || !ok {
		return null, err
	}
	results := make([]Value, 0, len(elements))
	size := 0
	err = m.each(env, elements, func(_, v Value) bool {
		results = append(results, v)
		size += len(v.Data)
		return size > maxMemory
	})
	if err != nil {
		return missing, err
	}
	if size > maxMemory {
		return missing, mongoerr.Errorf(mongoerr.ExceededMemoryLimit, "$map would use too much memory and cannot spill")
	}
	return env.pay(array(results))
}

func (m *mapLoop) optimized(o *optimizer) (Expression, error) { return m, m.optimize(o) }
