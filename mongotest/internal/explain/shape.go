package explain

import (
	"fmt"
	"strings"
)

// Shape writes which fields a filter asks for by which operators, without the values. The filter is one that the server has accepted.
func Shape(filter []byte) string {
	var b strings.Builder
	parseFilter(filter, nil).writeShape(&b)
	return b.String()
}

func (c *condition) writeShape(b *strings.Builder) {
	fmt.Fprintf(b, "%s %q(", c.op, c.path)
	for _, each := range c.children {
		each.writeShape(b)
	}
	b.WriteByte(')')
}
