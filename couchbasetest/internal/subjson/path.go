package subjson

import (
	"strconv"
	"strings"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// maxDepth is how many components a path may have, and how deep a document may be nested.
const maxDepth = 32

// Component is one step of a path: the name of a member, or the index of an element of an array, where -1 is the last.
type Component struct {
	Name    string
	Index   int
	IsIndex bool
}

// Path is a way into a document. The empty one leads to the whole document.
type Path []Component

// ParsePath reads a path such as a.b[0].`c.d`.
func ParsePath(text []byte) (Path, memd.Status) {
	if len(text) > memd.MaxPathLength {
		return nil, memd.StatusPathTooBig
	}
	var path Path
	others := string(text)
	for others != "" {
		c, after, ok := cut(others, len(path) == 0)
		if !ok {
			return nil, memd.StatusPathInvalid
		}
		if path = append(path, c); len(path) > maxDepth {
			return nil, memd.StatusPathTooBig
		}
		others = after
	}
	return path, memd.StatusSuccess
}

// cut reads the first component of a path, with the dot before it unless it is the first of all.
func cut(text string, first bool) (c Component, others string, ok bool) {
	if text[0] == '[' {
		return cutIndex(text[1:])
	}
	if !first {
		if text, ok = strings.CutPrefix(text, "."); !ok {
			return c, "", false
		}
	}
	if strings.HasPrefix(text, "`") {
		return cutQuoted(text[1:])
	}
	end := strings.IndexAny(text, ".[")
	if end < 0 {
		end = len(text)
	}
	name := text[:end]
	if name == "" || strings.ContainsAny(name, "`]") {
		return c, "", false
	}
	return Component{Name: name}, text[end:], true
}

func cutIndex(text string) (c Component, others string, ok bool) {
	digits, others, ok := strings.Cut(text, "]")
	if !ok {
		return c, "", false
	}
	if digits == "-1" {
		return Component{Index: -1, IsIndex: true}, others, true
	}
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil {
		return c, "", false
	}
	return Component{Index: int(n), IsIndex: true}, others, true
}

// cutQuoted reads a name up to the back-quote that ends it. Two back-quotes stand for one.
func cutQuoted(text string) (c Component, others string, ok bool) {
	var name strings.Builder
	for {
		before, after, found := strings.Cut(text, "`")
		if !found {
			return c, "", false
		}
		name.WriteString(before)
		if !strings.HasPrefix(after, "`") {
			return Component{Name: name.String()}, after, name.Len() > 0
		}
		name.WriteByte('`')
		text = after[1:]
	}
}
