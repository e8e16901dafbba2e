package query

import "github.com/holdfast-db/holdfast/internal/mongo/wire"

// MaxDocumentSize is the largest document that can be stored, in bytes.
const MaxDocumentSize = 16 << 20

// MaxNesting is how many levels of documents and arrays a document that a client sends may have; MaxStoredNesting is that
// of one that is stored.
const (
	MaxNesting       = 200
	MaxStoredNesting = 180
)

// Nesting returns how many levels of documents and arrays doc has, itself counted; it does not look deeper than most.
func Nesting(doc []byte, most int) int {
	if most <= 1 {
		return 1
	}
	deepest := 0
	it := wire.Elements(doc)
	for it.Next() {
		if v := Of(it.Element); v.IsDocument() || v.IsArray() {
			deepest = max(deepest, Nesting(v.Data, most-1))
		}
	}
	return deepest + 1
}
