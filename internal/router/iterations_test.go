package router

import "testing"

func TestTheUsualIterationsAreThoseOfTheLastUser(t *testing.T) {
	var i iterations
	if n := i.usual("a", 7); n != 7 {
		t.Errorf("without a user they are %d", n)
	}
	i.note("a", 8)
	i.note("a", 9)
	if n, other := i.usual("a", 7), i.usual("b", 7); n != 9 || other != 7 {
		t.Errorf("they are %d, those of another mechanism %d", n, other)
	}
}
