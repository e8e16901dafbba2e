package holdfastotel

import "go.mongodb.org/mongo-driver/v2/bson"

// leftOut are the fields of a command that db.query.text does not have.
var leftOut = map[string]bool{"lsid": true, "$db": true, "$clusterTime": true, "signature": true}

// queryText returns a command as relaxed extended JSON, cut to a number of characters. It is empty for a command that cannot be read.
func queryText(command []byte, maxLength int) string {
	elements, err := bson.Raw(command).Elements()
	if err != nil {
		return ""
	}
	shown := make(bson.D, 0, len(elements))
	for _, e := range elements {
		if !leftOut[e.Key()] {
			shown = append(shown, bson.E{Key: e.Key(), Value: e.Value()})
		}
	}
	text, err := bson.MarshalExtJSON(shown, false, false)
	if err != nil {
		return ""
	}
	return cut(string(text), maxLength)
}

// cut returns the first characters of a text.
func cut(text string, maxLength int) string {
	n := 0
	for i := range text {
		if n == maxLength {
			return text[:i]
		}
		n++
	}
	return text
}
