package mongotest

import "github.com/holdfast-db/holdfast/internal/wire"

// https://www.mongodb.com/docs/manual/reference/command/drop/

func cmdDrop(x *exec) error {
	if err := x.collectionName(); err != nil {
		return err
	}
	if err := x.noArgs(); err != nil {
		return err
	}
	existed := false
	note := x.note(0, nil)
	err := x.writing(func(m *member) error {
		if existed = m.collections[x.full] != nil; existed {
			x.appendLocked(&entry{kind: drop, ns: x.full}, -1, note)
		}
		return nil
	})
	if err == nil && existed {
		x.out = wire.AppendInt32(x.out, "nIndexesWas", 1)
		x.out = wire.AppendString(x.out, "ns", x.full)
	}
	return err
}

// noArgs refuses every argument.
func (x *exec) noArgs() error {
	if len(x.args) > 0 {
		return unknownField(x.name, string(x.args[0].Key))
	}
	return nil
}
