package store

import (
	"cmp"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/pipeline"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Validate returns why a document may not replace another, or be stored as a new one; nil if it may. Explained says that the
// error has the conditions that the document does not meet.
func (o *Options) Validate(context pipeline.Context, before, after []byte, explained bool) error {
	if o.Filter == nil || o.level == "off" || o.action == "warn" || o.satisfies(context, after) {
		return nil
	}
	if o.level == "moderate" && before != nil && !o.satisfies(context, before) {
		return nil
	}
	e := mongoerr.Errorf(mongoerr.DocumentValidationFailure, "Document failed validation")
	at, info := wire.BeginEmbedded(nil, "errInfo")
	id := query.Lookup(after, "_id")
	info = wire.AppendValue(info, "failingDocumentId", id.Type, id.Data)
	if explained {
		vars, _ := new(pipeline.Let).Vars(context) // without a let nothing can fail
		info = wire.AppendDocument(info, "details", query.Explain(o.validator, after, query.Hooks{Expr: validating, Collation: o.Collation.Rule()}, vars, mongoerr.Name))
	}
	e.Extra = wire.EndDocument(info, at)
	return e
}

// satisfies reports whether a document is as the validator wants it. One for which an expression fails is not.
func (o *Options) satisfies(context pipeline.Context, doc []byte) bool {
	if !o.computes {
		return o.Filter.Match(doc)
	}
	vars, err := new(pipeline.Let).Vars(context)
	if err != nil {
		return false
	}
	ok, err := o.Filter.MatchWith(doc, &query.Matching{Vars: vars})
	return ok && err == nil
}

func (o *Options) compileValidator(doc []byte) error {
	o.validator, o.Filter, o.computes = doc, &query.Filter{}, false
	return o.Filter.ParseWith(doc, query.Hooks{Refused: notInValidator, Collation: o.Collation.Rule(), Expr: func(v query.Value, c query.Collation) (query.Expr, error) {
		o.computes = true
		return validating(v, c)
	}})
}

// notInValidator refuses operators of whole filters, but schemas.
func notInValidator(operator string) error {
	if operator == "$jsonSchema" {
		return nil
	}
	return mongoerr.Errorf(mongoerr.BadValue, "%s is not allowed in this context", operator)
}

// validating compiles an expression of a validator. An error of its evaluation is an error when a document is validated.
func validating(v query.Value, c query.Collation) (query.Expr, error) {
	for operator, code := range map[string]mongoerr.Code{"$rand": 3040500, "$currentDate": 9428200} {
		if uses(v, operator) {
			return nil, mongoerr.Errorf(code, "%s not allowed inside collection validators", operator)
		}
	}
	if uses(v, "$function") {
		return nil, mongoerr.Errorf(4660800, "$function cannot be used inside a validator.")
	}
	e, err := new(pipeline.Let).Hooks().Expr(v, c)
	if refused := (*mongoerr.Error)(nil); errors.As(err, &refused) && refused.Constant {
		return func([]byte, any) (query.Value, error) { return query.Value{}, err }, nil
	}
	return e, err
}

// uses reports whether an operator is anywhere in an expression.
func uses(v query.Value, operator string) bool {
	if !v.IsDocument() && !v.IsArray() {
		return false
	}
	it := wire.Elements(v.Data)
	for it.Next() {
		if name := string(it.Key); name == operator || name != "$literal" && name != "$const" && uses(query.Of(it.Element), operator) {
			return true
		}
	}
	return false
}

// validation reads what concerns the validation of documents.
func (o *Options) validation(command string, e *wire.Element) error {
	name := string(e.Key)
	if name == "validator" {
		doc := slices.Clone(e.Document())
		if doc == nil {
			return fields.WrongType(command, name, e.Type, "object")
		}
		if err := query.CheckDocument(doc); err != nil {
			return err
		}
		if len(doc) == len(query.EmptyDocument) {
			o.validator, o.Filter = nil, nil
			return nil
		}
		o.Err = o.compileValidator(doc)
		return nil
	}
	if e.Type != bson.TypeString {
		return fields.WrongType(command, name, e.Type, "string")
	}
	to, known := &o.level, validationLevels
	if name == "validationAction" {
		to, known = &o.action, validationActions
	}
	if *to = string(e.Text()); !slices.Contains(known, *to) {
		return mongoerr.Errorf(mongoerr.BadValue, "Enumeration value '%s' for field '%s.%s' is not a valid value.", *to, command, name)
	}
	return nil
}

// StateValidation makes the options say what a collection without a level and an action has. A collMod of one of the three keeps all.
func (o *Options) StateValidation() {
	o.level, o.action = cmp.Or(o.level, "strict"), cmp.Or(o.action, "error")
}

var (
	validationLevels  = []string{"off", "moderate", "strict"}
	validationActions = []string{"error", "warn"}
)
