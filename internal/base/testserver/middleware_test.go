package testserver_test

import (
	"testing"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
)

type (
	handler    func(request string) string
	middleware func(request string, next handler) string
)

// named is a middleware that puts its name around the reply.
func named(name string) middleware {
	return func(r string, next handler) string { return name + "(" + next(r) + ")" }
}

// The middlewares of a request stand around it in the order in which they were added, and a removed one no longer does.
func TestTheFirstMiddlewareStandsOutside(t *testing.T) {
	var uses testserver.Uses[string, middleware]
	through := func(request string) string {
		list := uses.Of(func(key string) bool { return key == request })
		return testserver.Around(list, func(r string) string { return "reply to " + r })(request)
	}
	endFirst := uses.Add("a", named("1"))
	uses.Add("b", named("2"))
	endLast := uses.Add("a", named("3"))
	for i, want := range []string{"1(3(reply to a))", "3(reply to a)", "reply to a"} {
		if got := through("a"); got != want {
			t.Errorf("after %d were removed: %s, want %s", i, got, want)
		}
		[]func(){endFirst, endLast, endFirst}[i]()
	}
	if got := through("b"); got != "2(reply to b)" {
		t.Error(got)
	}
}

// What is in use may change while requests are under way: they keep what they have.
func TestAUseMayEndWhileARequestPasses(t *testing.T) {
	var uses testserver.Uses[int, middleware]
	var end func()
	end = uses.Add(0, func(r string, next handler) string {
		end()
		uses.Add(0, named("late"))
		return "first(" + next(r) + ")"
	})
	uses.Add(0, named("second"))
	all := func(int) bool { return true }
	for _, want := range []string{"first(second(a))", "second(late(a))"} {
		if got := testserver.Around(uses.Of(all), func(r string) string { return r })("a"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
