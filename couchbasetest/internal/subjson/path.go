package subjson

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// maxDepth is how deep a document may be nested. The path to what is deepest has one component less, as the document itself has none.
const maxDepth = 32

// Component is one step of a path: the name of a member, or the index of an element of an array, where -1 is the last.
type Component struct {
	Name    string
	Index   int
	IsIndex bool
}

// Path is a way into a document. The empty one leads to the whole document.
type Path []Component

// ParsePath reads a path such as a.b[0].`c.d`. One dot may also stand before an index and at the end, as in "a.[0]" and "a.": Couchbase's
// servers read paths with the library subjson, which takes them.
func ParsePath(text []byte) (Path, memd.Status) {
	if len(text) > memd.MaxPathLength {
		return nil, memd.StatusPathTooBig
	}
	var path Path
	others := string(text)
	for others != "" {
		cut := cutName
		if others[0] == '[' {
			cut = cutIndex
		}
		c, after, ok := cut(others)
		if !ok {
			return nil, memd.StatusPathInvalid
		}
		if path = append(path, c); len(path) >= maxDepth {
			return nil, memd.StatusPathTooBig
		}
		others = after
	}
	return path, memd.StatusSuccess
}

// cutIndex reads an index in brackets, with the dot after it. Empty brackets are the index 0, as subjson has it.
func cutIndex(text string) (c Component, others string, ok bool) {
	digits, others, ok := strings.Cut(text[1:], "]")
	if !ok || others != "" && others[0] != '.' && others[0] != '[' {
		return c, "", false
	}
	others = strings.TrimPrefix(others, ".")
	switch digits {
	case "-1":
		return Component{Index: -1, IsIndex: true}, others, true
	case "":
		return Component{IsIndex: true}, others, true
	}
	n, err := strconv.ParseUint(digits, 10, 31)
	if errors.Is(err, strconv.ErrRange) {
		n, err = math.MaxInt32, nil // no array is that long
	}
	return Component{Index: int(n), IsIndex: true}, others, err == nil
}

// cutName reads the name of a member, with the dot after it.
func cutName(text string) (c Component, others string, ok bool) {
	end := nameEnd(text)
	if end < 0 {
		return c, "", false
	}
	name, ok := unescape(text[:end])
	return Component{Name: name}, strings.TrimPrefix(text[end:], "."), ok
}

// nameEnd returns where a name ends: before a dot or a bracket that is not between back-quotes. It returns -1 if the name is not well formed.
// But for the back-quotes a name is the text of a JSON string.
func nameEnd(text string) int {
	quoted, escaped := false, false
	for i, char := range []byte(text) {
		switch {
		case escaped:
			if strings.IndexByte(`"/\bfnrt`, char) < 0 { // nor a number of a character: subjson has none in paths
				return -1
			}
			escaped = false
		case char == '\\':
			escaped = true
		case char == '"' || char < ' ':
			return -1
		case char == '`':
			quoted = !quoted
		case quoted:
		case char == ']':
			return -1
		case char == '.' || char == '[':
			return i
		}
	}
	if quoted || escaped {
		return -1
	}
	return len(text)
}

// backQuotes takes out single back-quotes. Two of them stand for one.
var backQuotes = strings.NewReplacer("``", "`", "`", "")

// unescape returns the name that a well-formed text stands for, which must not be empty.
func unescape(text string) (name string, ok bool) {
	if len(text) > 1 && text[0] == '`' && text[len(text)-1] == '`' {
		text = text[1 : len(text)-1]
	}
	return unquote([]byte(`"` + backQuotes.Replace(text) + `"`)), text != ""
}
