package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/javascript"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/function/

// Scripting gives the engine on which a command runs its JavaScript.
type Scripting interface {
	Engine() *javascript.Engine
}

// Engine returns the engine of the command, or one of this Env where there is no command.
func (e *Env) Engine() *javascript.Engine {
	if e.Scripting != nil {
		return e.Scripting.Engine()
	}
	if e.engine == nil {
		e.engine = &javascript.Engine{Work: e.Work}
	}
	return e.engine
}

var scriptOperators = []operator{{name: "$function", parse: parseFunction, long: callFunction, optimize: late}}

func parseFunction(p *parser, op *operator, v Value) (Expression, error) {
	if !v.IsDocument() {
		return nil, mongoerr.Errorf(31260, "$function requires an object as an argument, found: %s", typeName(v))
	}
	body, args, lang := query.Lookup(v.Data, "body"), query.Lookup(v.Data, "args"), query.Lookup(v.Data, "lang")
	if body.Missing() {
		return nil, mongoerr.Errorf(31261, "The body function must be specified.")
	}
	code, err := p.expression(body)
	if err != nil {
		return nil, err
	}
	text, ok := code.(constant)
	switch {
	case !ok:
		return nil, mongoerr.Errorf(31432, "The body function must be a constant expression")
	case !isCode(text.value):
		return nil, mongoerr.Errorf(31262, "The body function must evaluate to type string or code")
	case args.Missing():
		return nil, mongoerr.Errorf(31263, "The args field must be specified.")
	}
	given, err := p.expression(args)
	switch {
	case err != nil:
		return nil, err
	case lang.Missing():
		return nil, mongoerr.Errorf(31418, "The lang field must be specified.")
	case !lang.IsString() || string(lang.Text()) != "js":
		return nil, mongoerr.Errorf(31419, "Currently the only supported language specifier is 'js'.")
	}
	return &call{op: op, args: []Expression{code, given}}, nil
}

func isCode(v Value) bool { return v.IsString() || v.Type == bson.TypeJavaScript }

// codeOf returns the text of a string or of code.
func codeOf(v Value) string { return string(Value{Type: bson.TypeString, Data: v.Data}.Text()) }

func callFunction(env *Env, args []Value) (Value, error) {
	f, err := env.Engine().Function(codeOf(args[0]))
	if err != nil {
		return missing, err
	}
	if !args[1].IsArray() {
		return missing, mongoerr.Errorf(31266, "The args field must be of type array")
	}
	return f.Call(missing, query.Elements(query.PlainValue(args[1]).Data)...)
}
