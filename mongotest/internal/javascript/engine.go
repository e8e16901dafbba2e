package javascript

import (
	_ "embed"
	"errors"

	"github.com/dop251/goja"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// maxCalls is how deep calls may be in one another.
const maxCalls = 4000

// Engine runs the code of one command, in which global variables live as long as the engine. It is not safe for concurrent use. The
// zero value is ready.
type Engine struct {
	// Work is asked whether a call may go on; nil if it may take as long as it wants.
	Work *query.Work
	// MayWait reports whether sleep may wait; nil if it may always.
	MayWait func() bool

	vm        *goja.Runtime
	functions map[string]*Function
	types     map[string]*goja.Object // the prototypes of the types of BSON that JavaScript does not have
	boxed     *goja.Symbol
	written   *goja.Symbol
	date      goja.Value
	regexp    goja.Value
	stop      chan struct{} // closed when the call is interrupted
	memory    uint64        // by how many bytes the heap may grow in a call
}

// Function is a compiled function.
type Function struct {
	engine *Engine
	call   goja.Callable
}

//go:embed prelude.js
var preludeText string

var prelude = goja.MustCompile("mongotest", preludeText, true)

// begin makes the engine's runtime, if there is none yet.
func (e *Engine) begin() {
	if e.vm != nil {
		return
	}
	e.vm = goja.New()
	if e.memory == 0 {
		e.memory = mostMemory
	}
	e.vm.SetMaxCallStackSize(maxCalls)
	e.functions = make(map[string]*Function)
	e.boxed, e.written = goja.NewSymbol("bson"), goja.NewSymbol("written")
	e.date, e.regexp = e.vm.Get("Date"), e.vm.Get("RegExp")
	made, err := e.vm.RunProgram(prelude)
	if err != nil {
		panic(err) // it is the same for every engine
	}
	install, _ := goja.AssertFunction(made)
	types, err := install(goja.Undefined(), e.vm.ToValue(e.box), e.vm.ToValue(e.unbox), e.vm.ToValue(e.sleep), e.vm.ToValue(e.checkLength))
	if err != nil {
		panic(err)
	}
	e.types = make(map[string]*goja.Object)
	for _, name := range types.ToObject(e.vm).Keys() {
		e.types[name] = types.ToObject(e.vm).Get(name).ToObject(e.vm)
	}
}

// Function compiles a function, the body of one, or an expression. It compiles each text once.
func (e *Engine) Function(code string) (*Function, error) {
	e.begin()
	if f := e.functions[code]; f != nil {
		return f, nil
	}
	program, err := compile(code)
	if err != nil {
		return nil, failure(err)
	}
	var made goja.Value
	err = e.bounded(func() (err error) {
		made, err = e.vm.RunProgram(program)
		return err
	})
	if err != nil {
		return nil, err
	}
	call, ok := goja.AssertFunction(made)
	if !ok {
		return nil, mongoerr.Errorf(mongoerr.JSInterpreterFailure, "the code is not a function")
	}
	f := &Function{engine: e, call: call}
	e.functions[code] = f
	return f, nil
}

// Call calls the function and returns its result, which is undefined where it returns nothing. A Missing this is undefined in the code.
func (f *Function) Call(this query.Value, args ...query.Value) (result query.Value, err error) {
	e := f.engine
	err = e.bounded(func() error {
		values := make([]goja.Value, len(args))
		for i, arg := range args {
			values[i] = e.fromBSON(arg, 0)
		}
		returned, err := f.call(e.fromBSON(this, 0), values...)
		if err == nil {
			result = e.toBSON(returned, query.Value{}, 0)
		}
		return err
	})
	return result, err
}

// Matches calls the function of a $where for a document, which is this and obj in the code, and reports whether its result is true.
func (f *Function) Matches(doc []byte) (ok bool, err error) {
	e := f.engine
	err = e.bounded(func() error {
		this := e.fromBSON(query.Document(doc), 0)
		if err := e.vm.Set("obj", this); err != nil {
			return err
		}
		returned, err := f.call(this)
		ok = err == nil && e.truth(returned)
		return err
	})
	return ok, err
}

// truth reports whether a result counts as true. A number of a type that JavaScript does not have counts as a number.
func (e *Engine) truth(v goja.Value) bool {
	if o, is := v.(*goja.Object); is {
		if b, is := e.boxOf(o); is && b.IsNumber() {
			return query.Truth(b)
		}
	}
	return v.ToBoolean()
}

// failure is the error of a command whose code failed.
func failure(err error) error {
	var interrupted *goja.InterruptedError
	var thrown *goja.Exception
	var overflow *goja.StackOverflowError
	var refused *mongoerr.Error
	switch {
	case errors.As(err, &interrupted):
		if cause, ok := interrupted.Value().(error); ok {
			return cause
		}
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &overflow):
		return mongoerr.Errorf(mongoerr.JSInterpreterFailure, "InternalError: too much recursion")
	case errors.As(err, &thrown):
		return mongoerr.Errorf(mongoerr.JSInterpreterFailure, "%s", thrownText(thrown.Value()))
	}
	return mongoerr.Errorf(mongoerr.JSInterpreterFailure, "%s", err)
}

// thrownText is the text of a thrown value, which need not be an error.
func thrownText(v goja.Value) (text string) {
	defer func() {
		if recover() != nil { // its toString throws
			text = "uncaught exception"
		}
	}()
	if o, ok := v.(*goja.Object); ok && o.ClassName() == "Error" {
		return o.String()
	}
	return "uncaught exception: " + v.String()
}
