package query

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// EmptyDocument is the document without fields. It is never written to.
var EmptyDocument = []byte{5, 0, 0, 0, 0}

// CheckDocument checks a document that a client sent, to any depth that it may have.
func CheckDocument(doc []byte) error { return checkLevels(doc, MaxNesting) }

// checkLevels checks a document down to a number of levels.
func checkLevels(doc []byte, levels int) error {
	if levels == 0 {
		return mongoerr.Errorf(mongoerr.Overflow, "Document exceeds maximum nesting of %d levels", MaxNesting)
	}
	it := wire.Elements(doc)
	for it.Next() {
		switch it.Type {
		case bson.TypeEmbeddedDocument, bson.TypeArray:
			if err := checkLevels(it.Value, levels-1); err != nil {
				return err
			}
		case bson.TypeCodeWithScope:
			_, scope, ok := Of(it.Element).CodeWithScope()
			if !ok {
				return fmt.Errorf("%w: code and its scope do not fit", wire.ErrMalformed)
			}
			if err := checkLevels(scope, levels-1); err != nil {
				return err
			}
		case bson.TypeBoolean:
			if it.Value[0] > 1 {
				return fmt.Errorf("%w: a boolean of %d", wire.ErrMalformed, it.Value[0])
			}
		}
	}
	return it.Err
}

// EqualDocuments reports whether two documents are equal as values.
func EqualDocuments(a, b []byte) bool { return Equal(Document(a), Document(b)) }

// DocumentText returns a document as errors have it.
func DocumentText(doc []byte) string {
	return strings.NewReplacer("{  }", "{}", "[  ]", "[]").Replace(Document(doc).String())
}
