package mongotest

// https://www.mongodb.com/docs/manual/reference/command/create/

func cmdCreate(x *exec) error {
	if err := x.collectionName(); err != nil {
		return err
	}
	for i := range x.args {
		switch name := string(x.args[i].Key); name {
		case "capped", "autoIndexId", "timeseries", "expireAfterSeconds", "clusteredIndex", "changeStreamPreAndPostImages",
			"size", "max", "storageEngine", "validator", "validationLevel", "validationAction", "indexOptionDefaults", "viewOn",
			"pipeline", "encryptedFields", "flags":
			if name != "autoIndexId" && (name != "capped" || x.args[i].True()) {
				return unsupportedField("create", name)
			}
		case "collation":
			if err := simpleCollation("create", &x.args[i]); err != nil {
				return err
			}
		default:
			return unknownField("create", name)
		}
	}
	note := x.note(0, nil)
	return x.writing(func(m *member) error {
		if m.collections[x.full] != nil {
			err := failf(codeNamespaceExists, "Collection %s already exists.", x.full)
			note.Err = err.Code
			return err
		}
		x.appendLocked(&entry{kind: create, ns: x.full}, -1, note)
		return nil
	})
}
