package spec

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dop251/goja"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// evaluate runs the code of a $where: an expression, a function or the body of one. It has the function sleep of MongoDB's servers.
func evaluate(ctx context.Context, code string, document bson.Raw) (bool, error) {
	text, err := bson.MarshalExtJSON(document, false, false)
	if err != nil {
		return false, err
	}
	vm := goja.New()
	defer context.AfterFunc(ctx, func() { vm.Interrupt(ctx.Err()) })()
	if err := vm.Set("sleep", func(ms int64) { sleep(ctx, time.Duration(ms)*time.Millisecond) }); err != nil {
		return false, err
	}
	if _, err := vm.RunString("var obj = " + string(text)); err != nil {
		return false, err
	}
	// A body that is no expression is a syntax error in the first of these.
	program, err := goja.Compile("$where", "(function() { return (\n"+code+"\n) }).call(obj)", false)
	if err != nil {
		program, err = goja.Compile("$where", "(function() {\n"+code+"\n}).call(obj)", false)
	}
	if err != nil {
		return false, err
	}
	result, err := vm.RunProgram(program)
	if function, ok := goja.AssertFunction(result); err == nil && ok {
		result, err = function(vm.Get("obj"))
	}
	if err != nil {
		return false, err
	}
	return result.ToBoolean(), nil
}

// sleep waits for d, or until the context ends.
func sleep(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-ctx.Done()
}

func TestEvaluate(t *testing.T) {
	for _, c := range []struct {
		name, code string
		want       bool
		fails      bool
		took       time.Duration
	}{
		{"an expression", "this.n == 2 && obj.n == 2", true, false, 0},
		{"an expression that is false", "this.n > 2", false, false, 0},
		{"a function", "function() { return this.n == 2 }", true, false, 0},
		{"the body of a function", "var two = 2; return this.n == two", true, false, 0},
		{"a nested field", "this.a.b[1] == 'x'", true, false, 0},
		{"a sleep", "sleep(2000) || true", true, false, 2 * time.Second},
		{"a loop without an end", "while (true) sleep(100)", false, true, 5 * time.Second},
		{"an error", "none.n", false, true, 0},
		{"a syntax error", "(", false, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				document, err := bson.Marshal(bson.D{{Key: "n", Value: 2}, {Key: "a", Value: bson.D{{Key: "b", Value: bson.A{1, "x"}}}}})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				start := time.Now()
				got, err := evaluate(ctx, c.code, document)
				if got != c.want || (err != nil) != c.fails || time.Since(start) != c.took {
					t.Error(fmt.Sprint(got, err, time.Since(start)))
				}
			})
		})
	}
}
