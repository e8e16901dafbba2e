package subjson

import (
	"bytes"
	"encoding/json"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// Check reports whether a text is JSON that may be looked into.
func Check(doc []byte) memd.Status {
	if !json.Valid(doc) {
		return memd.StatusNotJSON
	}
	if depth(doc) > maxDepth {
		return memd.StatusDocumentTooDeep
	}
	return memd.StatusSuccess
}

// depth returns how deep a valid text is nested.
func depth(doc []byte) int {
	deepest, now := 0, 0
	for i := 0; i < len(doc); i++ {
		switch doc[i] {
		case '"':
			i = stringEnd(doc, i) - 1
		case '{', '[':
			now++
			deepest = max(deepest, now)
		case '}', ']':
			now--
		}
	}
	return deepest
}

// The functions below are for valid JSON only.

// stringEnd returns the index after the string that begins at i.
func stringEnd(doc []byte, i int) int {
	for i++; doc[i] != '"'; i++ {
		if doc[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// space returns the index of the first byte from i on that is no white space.
func space(doc []byte, i int) int {
	for i < len(doc) && (doc[i] == ' ' || doc[i] == '\t' || doc[i] == '\n' || doc[i] == '\r') {
		i++
	}
	return i
}

// valueEnd returns the index after the value that begins at i.
func valueEnd(doc []byte, i int) int {
	switch doc[i] {
	case '"':
		return stringEnd(doc, i)
	case '{', '[':
		for level := 0; ; i++ {
			switch doc[i] {
			case '"':
				i = stringEnd(doc, i) - 1
			case '{', '[':
				level++
			case '}', ']':
				if level--; level == 0 {
					return i + 1
				}
			}
		}
	}
	for i < len(doc) && !isEnd(doc[i]) {
		i++
	}
	return i
}

// isEnd reports whether a byte ends a number or a word.
func isEnd(c byte) bool {
	switch c {
	case ',', '}', ']', ' ', '\t', '\n', '\r':
		return true
	}
	return false
}

// entry is a member of an object or an element of an array, in the bytes of its document.
type entry struct {
	name       string // of a member
	from       int    // where the member's name begins, or the element
	start, end int    // of the value
}

// entries returns the members or elements of the object or array that begins at i, and the index of its last byte.
func entries(doc []byte, i int) (list []entry, last int) {
	isObject := doc[i] == '{'
	for i = space(doc, i+1); doc[i] != '}' && doc[i] != ']'; i = space(doc, i) {
		if doc[i] == ',' {
			i = space(doc, i+1)
		}
		e := entry{from: i}
		if isObject {
			i = stringEnd(doc, i)
			e.name = unquote(doc[e.from:i])
			i = space(doc, space(doc, i)+1) // after the colon
		}
		e.start, e.end = i, valueEnd(doc, i)
		list = append(list, e)
		i = e.end
	}
	return list, i
}

func unquote(quoted []byte) string {
	var s string
	_ = json.Unmarshal(quoted, &s)
	return s
}

// quote returns a name as JSON, in which "<" stays as it is: servers do not escape it.
func quote(name string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(name)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
