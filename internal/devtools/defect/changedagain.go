package defect

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// ChangedAgain returns a document after the change that led from before to after: numbers grow by the same difference, new
// fields are added, and other fields stay as they are.
func ChangedAgain(current, before, after bson.Raw) (bson.Raw, error) {
	var fields bson.D
	if err := bson.Unmarshal(current, &fields); err != nil {
		return nil, err
	}
	elements, err := after.Elements()
	if err != nil {
		return nil, err
	}
	for _, e := range elements {
		was, is := before.Lookup(e.Key()), e.Value()
		if was.Equal(is) {
			continue
		}
		at := slices.IndexFunc(fields, func(f bson.E) bool { return f.Key == e.Key() })
		if at < 0 {
			fields = append(fields, bson.E{Key: e.Key(), Value: is})
			continue
		}
		field := current.Lookup(e.Key())
		if document, ok := is.DocumentOK(); ok && field.Type == bson.TypeEmbeddedDocument {
			inner, _ := was.DocumentOK()
			if fields[at].Value, err = ChangedAgain(field.Document(), inner, document); err != nil {
				return nil, err
			}
		} else if grown, ok := is.AsInt64OK(); ok && field.IsNumber() {
			from, _ := was.AsInt64OK()
			fields[at].Value = field.AsInt64() + grown - from
		}
	}
	return bson.Marshal(fields)
}
