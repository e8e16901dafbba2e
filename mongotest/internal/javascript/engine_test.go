package javascript_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/javascript"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

func value(t testing.TB, text string) query.Value {
	t.Helper()
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(`{"v": `+text+`}`), false, &d); err != nil {
		t.Fatal(err)
	}
	doc, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return query.Lookup(doc, "v")
}

func extended(v query.Value) string {
	var o query.Object
	text := bson.Raw(o.Set("v", v).Bytes()).String()
	return strings.TrimSuffix(strings.TrimPrefix(text, `{"v": `), "}")
}

// Most sentences are from https://www.mongodb.com/docs/manual/reference/operator/query/where/, which lists what the code has, and from
// https://www.mongodb.com/docs/mongodb-shell/reference/data-types/.
func TestTheCodeHasTheTypesAndFunctionsOfTheShell(t *testing.T) {
	for _, c := range []struct{ name, code, arg, want string }{
		{"an int is a number, and a number is a double", `function(x) { return x + 1 }`, `2`, `{"$numberDouble":"3.0"}`},
		{"a field that is the same number stays an int", `function(x) { x.b = 2; return x }`, `{"a": 1}`, `{"a": {"$numberInt":"1"},"b": {"$numberDouble":"2.0"}}`},
		{"a field that is another number is a double", `function(x) { x.a++; return x }`, `{"a": 1}`, `{"a": {"$numberDouble":"2.0"}}`},
		{"elements of an array keep their types too", `function(x) { x.push(3); return x }`, `[1, 2.5]`, `[{"$numberInt":"1"},{"$numberDouble":"2.5"},{"$numberDouble":"3.0"}]`},
		{"a long stays one", `function(x) { return x }`, `{"$numberLong": "9007199254740993"}`, `{"$numberLong":"9007199254740993"}`},
		{"a long has a number", `function(x) { return x.toNumber() + x }`, `{"$numberLong": "2"}`, `{"$numberDouble":"4.0"}`},
		{"a long's text", `function(x) { return x.toString() + NumberLong("9007199254740993") }`, `{"$numberLong": "2"}`, `"NumberLong(2)9007199254740992"`},
		{"NumberLong of a text", `function() { return NumberLong("9007199254740993") }`, `1`, `{"$numberLong":"9007199254740993"}`},
		{"NumberLong with new", `function() { return new NumberLong(5) }`, `1`, `{"$numberLong":"5"}`},
		{"NumberInt", `function() { return NumberInt(5.9) }`, `1`, `{"$numberInt":"5"}`},
		{"NumberInt computes", `function() { return NumberInt(5) + NumberInt("6") }`, `1`, `{"$numberDouble":"11.0"}`},
		{"NumberDecimal", `function() { return NumberDecimal("1.50") }`, `1`, `{"$numberDecimal":"1.50"}`},
		{"a decimal's text", `function(x) { return x.toString() }`, `{"$numberDecimal": "1.50"}`, `"NumberDecimal(\"1.50\")"`},
		{"an ObjectId has str", `function(x) { return x.str }`, `{"$oid": "0123456789abcdef01234567"}`, `"0123456789abcdef01234567"`},
		{"an ObjectId's text", `function(x) { return "" + x.toString() }`, `{"$oid": "0123456789abcdef01234567"}`, `"ObjectId(\"0123456789abcdef01234567\")"`},
		{"an ObjectId's time", `function(x) { return x.getTimestamp() }`, `{"$oid": "65a000000000000000000000"}`, `{"$date":{"$numberLong":"1704984576000"}}`},
		{"ObjectId of a text", `function() { return ObjectId("0123456789abcdef01234567") }`, `1`, `{"$oid":"0123456789abcdef01234567"}`},
		{"a date is a Date", `function(x) { return x.getUTCFullYear() }`, `{"$date": "2026-01-02T03:04:05Z"}`, `{"$numberDouble":"2026.0"}`},
		{"a Date is a date", `function(x) { return new Date(x.getTime() + 1) }`, `{"$date": {"$numberLong": "-5"}}`, `{"$date":{"$numberLong":"-4"}}`},
		{"ISODate", `function() { return ISODate("2026-01-02T03:04:05.678+01:30") }`, `1`, `{"$date":{"$numberLong":"1767317645678"}}`},
		{"ISODate without a time", `function() { return ISODate("20260102") }`, `1`, `{"$date":{"$numberLong":"1767312000000"}}`},
		{"BinData", `function() { return BinData(2, "AQID") }`, `1`, `{"$binary":{"base64":"AQID","subType":"02"}}`},
		{"binary data has hex and base64", `function(x) { return x.hex() + x.base64() + x.subtype() + x.length() }`, `{"$binary": {"base64": "AQID/w==", "subType": "05"}}`, `"010203ffAQID/w==54"`},
		{"UUID", `function() { return UUID("00112233-4455-6677-8899-aabbccddeeff") }`, `1`, `{"$binary":{"base64":"ABEiM0RVZneImaq7zN3u/w==","subType":"04"}}`},
		{"HexData", `function() { return HexData(0, "0aff") }`, `1`, `{"$binary":{"base64":"Cv8=","subType":"00"}}`},
		{"Timestamp", `function(x) { return Timestamp(x.t + 1, x.getInc() + 1) }`, `{"$timestamp": {"t": 5, "i": 6}}`, `{"$timestamp":{"t":6,"i":7}}`},
		{"a regular expression is a RegExp", `function(x) { return x.test("ABC") && x }`, `{"$regularExpression": {"pattern": "b", "options": "i"}}`, `{"$regularExpression":{"pattern":"b","options":"i"}}`},
		{"MinKey and MaxKey", `function(x) { return [x, MinKey(), new MaxKey()] }`, `{"$minKey": 1}`, `[{"$minKey":1},{"$minKey":1},{"$maxKey":1}]`},
		{"undefined", `function(x) { return [x === undefined, undefined] }`, `{"$undefined": true}`, `[true,{"$undefined":true}]`},
		{"null", `function(x) { return x === null ? null : 1 }`, `null`, `null`},
		{"DBRef", `function(x) { return DBRef("c", x.$id, "d") }`, `{"$ref": "a", "$id": 1}`, `{"$ref": "c","$id": {"$numberDouble":"1.0"},"$db": "d"}`},
		{"a DBRef has its parts", `function(x) { return x.getCollection() + x.$ref }`, `{"$ref": "a", "$id": 1}`, `"aa"`},
		{"a function is code", `function() { return function(a) { return a } }`, `1`, `{"$code":"function(a) { return a }"}`},
		{"code is a function", `function(x) { return x(2) }`, `{"$code": "function(n) { return n * 2 }"}`, `{"$numberDouble":"4.0"}`},
		{"an arrow function", `x => x * 2`, `3`, `{"$numberDouble":"6.0"}`},
		{"a function behind a comment", "// doubles\nfunction f(x) { return x * 2 }", `3`, `{"$numberDouble":"6.0"}`},
		{"the body of a function", `var y = 2; return y`, `3`, `{"$numberDouble":"2.0"}`},
		{"nothing returned", `function() {}`, `3`, `{"$undefined":true}`},
		{"tojson", `function(x) { return tojson(x) }`, `{"a": 1, "b": [{"$numberLong": "2"}, {"$date": "2026-01-02T03:04:05Z"}], "c": {"$oid": "0123456789abcdef01234567"}}`, `"{\n\t\"a\" : 1,\n\t\"b\" : [ NumberLong(2), ISODate(\"2026-01-02T03:04:05Z\") ],\n\t\"c\" : ObjectId(\"0123456789abcdef01234567\")\n}"`},
		{"tojsononeline", `function(x) { return tojsononeline(x) }`, `{"a": {"b": [1, "x"]}}`, `"{ \"a\" : { \"b\" : [ 1, \"x\" ] } }"`},
		{"isNumber, isString, isObject", `function(x) { return [isNumber(1), isString("s"), isObject(x), isNumber("1")] }`, `{}`, `[true,true,true,false]`},
		{"Array.sum", `function(x) { return Array.sum(x) }`, `[1, 2, 3]`, `{"$numberDouble":"6.0"}`},
		{"print returns nothing", `function(x) { print(x); return 1 }`, `1`, `{"$numberDouble":"1.0"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := new(javascript.Engine).Function(c.code)
			if err != nil {
				t.Fatal(err)
			}
			got, err := f.Call(query.Value{}, value(t, c.arg))
			if err != nil || extended(got) != c.want {
				t.Errorf("got  %s, %v\nwant %s", extended(got), err, c.want)
			}
		})
	}
}

func TestErrorsOfCode(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{"a name that is not defined", `none.n`, "ReferenceError: none is not defined"},
		{"a syntax error", `(`, "SyntaxError"},
		{"a thrown text", `function() { throw "no" }`, "uncaught exception: no"},
		{"a thrown error", `function() { throw new TypeError("no") }`, "TypeError: no"},
		{"assert", `function() { assert(1 == 2, "numbers") }`, "assert failed : numbers"},
		{"a recursion without end", `function f() { return f() }`, "too much recursion"},
		{"a cycle", `function() { var a = {}; a.a = a; return a }`, "Do you have a cycle?"},
		{"an ObjectId that is none", `function() { return ObjectId("x") }`, "invalid object id"},
		{"a decimal that is none", `function() { return NumberDecimal("x") }`, "not a valid Decimal128"},
		{"a date that is none", `function() { return ISODate("x") }`, "invalid ISO date: x"},
		{"a text that is too long", `function() { return "x".repeat(1e9) }`, "invalid string length"},
		{"code that is made of text", `function() { return eval("1") }`, "is not supported"},
		{"code that is made of text by the constructor of a function", `function() { return (function() {}).constructor("return 1")() }`, "is not supported"},
		{"code that is too long", strings.Repeat("(", 70_000), "is not supported"},
		{"code that is nested deep", strings.Repeat("(", 30_000), "SyntaxError"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := new(javascript.Engine).Function(c.code)
			if err == nil {
				_, err = f.Call(query.Value{})
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %s", err, c.want)
			}
		})
	}
}

// The compiler's stack is as deep as the code is nested. Too deep a stack would end the whole program.
func TestCodeThatIsNestedDeepEndsNothing(t *testing.T) {
	for _, c := range [][2]string{
		{"(", ")"},
		{"[", "]"},
		{"!", ""},
		{"-", ""},
		{"function(){return ", "}"},
		{"if(1)", ""},
		{"new ", ""},
		{"0?0:", ""},
		{"`${", "}`"},
		{"f(", ")"},
		{"x=", ""},
		{"({a:", "})"},
		{"typeof ", ""},
		{"while(0)", ""},
		{"f?.(", ")"},
	} {
		t.Run(c[0], func(*testing.T) {
			n := (32<<10 - 20) / len(c[0]+c[1])
			code := strings.Repeat(c[0], n) + "1" + strings.Repeat(c[1], n)
			if f, err := new(javascript.Engine).Function(code); err == nil {
				_, _ = f.Call(query.Value{}) // whatever it does, this program goes on
			}
		})
	}
}

func TestACallEndsWhenItsWorkMustEnd(t *testing.T) {
	stopped := errors.New("stopped")
	for _, code := range []string{
		`function() { while (true); }`, `function() { while (true) try { while (true); } catch (e) {} }`, `function() { sleep(1e9) }`,
		`function() { for (;;) sleep(10) }`, `function() { return [1, 2].map(function() { for (;;); }) }`,
	} {
		t.Run(code, func(t *testing.T) {
			left := 4
			e := &javascript.Engine{Work: query.NewWork(func() error {
				if left--; left < 0 {
					return stopped
				}
				return nil
			})}
			f, err := e.Function(code)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Call(query.Value{}); !errors.Is(err, stopped) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestACallEndsWhenTheHeapGrowsTooMuch(t *testing.T) {
	f, err := javascript.NewWithMemory(50 << 20).Function(`function() { var a = [], s = "x".repeat(1 << 20); for (;;) a.push(s.slice(1) + a.length); }`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Call(query.Value{}); err == nil || !strings.Contains(err.Error(), "Out of memory") {
		t.Errorf("the error is %v", err)
	}
}

func TestSleepWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		f, err := new(javascript.Engine).Function(`sleep(2000) || true`)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := f.Call(query.Value{}); err != nil || !v.True() || time.Since(start) != 2*time.Second {
			t.Errorf("%v, %v after %v", v, err, time.Since(start))
		}
	})
}

func FuzzFunction(f *testing.F) {
	f.Add("function(x) { return x }", []byte("\x0c\x00\x00\x00\x10a\x00\x01\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, code string, doc []byte) {
		if query.CheckDocument(doc) != nil {
			t.Skip()
		}
		left := 2
		e := &javascript.Engine{Work: query.NewWork(func() error {
			if left--; left < 0 {
				return errors.New("stopped")
			}
			return nil
		})}
		compiled, err := e.Function(code)
		if err != nil {
			return
		}
		v, err := compiled.Call(query.Document(doc), query.Document(doc))
		if err == nil && v.Missing() {
			t.Error("there is no value")
		}
	})
}
