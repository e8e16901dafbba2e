package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/fulltext"
)

// Hooks plug the language of aggregation expressions, which stands above this package, into it. If a hook is
// nil, the operators that need it are refused by name.
type Hooks struct {
	// Expr compiles an expression, for $expr and for the computed fields of a projection.
	Expr func(v Value, c Collation) (Expr, error)
	// Pipeline compiles an update that is an array of stages.
	Pipeline func(stages Value, c Collation) (Pipeline, error)
	// Where compiles the code of a $where into an expression that is true for the documents that match.
	Where func(code Value) (Expr, error)
	// Refused returns an error if a filter may not have the operator: $jsonSchema, $where or $text.
	Refused func(operator string) error
	// Searches says which searches ($text, $near) a filter may have.
	Searches Searches
	// Collation compares strings; without one they are compared by their bytes.
	Collation Collation
}

// Expr is a compiled expression: it returns its value for a document, Missing for none.
type Expr func(doc []byte, vars any) (Value, error)

// Pipeline is a compiled update of stages: it returns the new document.
type Pipeline func(doc []byte, vars any) ([]byte, error)

// Matching carries what a match depends on besides the document, and what it found. One may serve many documents, one
// after the other.
type Matching struct {
	Vars any   // of $expr
	Work *Work // of the evaluation
	// Verdicts keeps the results of the filter for documents that never change; nil if none are kept.
	Verdicts Verdicts
	// Text asks a text index whether a document matches the filter's $text.
	Text func(doc []byte, w *Work) (fulltext.Result, bool, error)
	// Found is what $text or $near found in the last document.
	Found Found

	element int // of the outermost array that a condition was met in, plus one
	err     error
}

// goOn counts a step, and reports whether the evaluation may go on.
func (m *Matching) goOn() bool {
	if m == nil || m.Work == nil {
		return true
	}
	if err := m.Work.Do(1); err != nil {
		m.err = err
	}
	return m.err == nil
}

// Element returns the index of the array element by which the last document matched, and false if it did not match by one. The positional
// operator stands for that element.
func (m *Matching) Element() (int, bool) {
	if m == nil {
		return 0, false
	}
	return m.element - 1, m.element > 0
}

// found notes the element by which a condition was met.
func (m *Matching) found(element int) {
	if m != nil && element > 0 {
		m.element = element
	}
}

// Truth reports whether an expression's value counts as true: null, zero, false and nothing do not.
func Truth(v Value) bool {
	switch v.Type {
	case 0, bson.TypeNull, bson.TypeUndefined:
		return false
	case bson.TypeBoolean:
		return v.Data[0] != 0
	}
	return !v.IsNumber() || Compare(v, Int32(0)) != 0
}
