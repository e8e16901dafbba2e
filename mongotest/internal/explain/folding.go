package explain

import (
	"bytes"
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// compiler compiles a filter, as Query.Match does.
type compiler func(filter []byte) (func(doc []byte) (bool, error), error)

// folded returns a condition in which each $expr of constants is the condition that everything or nothing meets.
func (match compiler) folded(c *condition) *condition {
	for i := range c.children {
		c.children[i] = match.folded(c.children[i])
	}
	if c.op != "$expr" || !constant(c.value) {
		return c
	}
	meets, err := match(c.document())
	if err != nil {
		return c
	}
	switch ok, err := meets(query.EmptyDocument); {
	case err != nil:
		return c
	case ok:
		return &condition{op: "$and"}
	}
	return never()
}

// changing are the expressions without a field or a variable whose values differ from document to document.
var changing = []string{"$rand", "$function", "$createObjectId", "$currentDate", "$meta"}

// constant reports whether an expression refers to no field and no variable.
func constant(v query.Value) bool {
	switch {
	case v.IsString():
		return !bytes.HasPrefix(v.Text(), []byte("$"))
	case !v.IsDocument() && !v.IsArray():
		return true
	}
	for it := wire.Elements(v.Data); it.Next(); {
		if slices.Contains(changing, string(it.Key)) || !constant(query.Of(it.Element)) {
			return false
		}
	}
	return true
}
