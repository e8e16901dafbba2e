package main

import (
	"slices"
	"strings"
	"testing"
)

// What is left out of a line: the other mutants of these lines are cases of TestTheMutantsOfALine.
func TestWhatIsLeftOutOfALine(t *testing.T) {
	for _, c := range []struct {
		name, operator, statements string
		want                       []string
	}{
		{"a guard of one statement", "force the condition", "if a < b {\n\tcall()\n}", []string{"if (a < b) || true {"}},
		{"a guard of two", "force the condition", "if a < b {\n\tcall()\n\tcall()\n}", []string{"if (a < b) || true {", "if (a < b) && false {"}},
		{"one way or the other", "force the condition", "if ok {\n} else {\n\tcall()\n}", []string{"if (ok) || true {", "if (ok) && false {"}},
		{"a comparison for equality", "force the condition", "if a == b {\n\tcall()\n\tcall()\n}", nil},
		{"a loop", "force the condition", "for ok {\n}", nil},
		{"a reset beside others", "remove one of the assignments", "a, ok, list = 0, false, nil", []string{
			"ok, list = false, nil", "a, list = 0, nil", "a, ok = 0, false",
		}},
		{"one reset", "remove one of the assignments", "ok = false", nil},
		{"the results of a call", "remove one of the assignments", "_, ok = map[int]bool{}[a]", nil},
		{"one of three conditions", "drop an operand", "_ = ok && a < b && err != nil", []string{
			"_ = ok && a < b", "_ = err != nil", "_ = ok && err != nil", "_ = a < b && err != nil",
		}},
		{"what is subtracted", "drop an operand", "_ = a - len(list)", []string{"_ = a"}},
		{"a part of a text", "drop an operand", "_ = labelA + other", nil},
		{"what an append returns", "append less", "call(append(list, a))", []string{"call(list)"}},
		{"a list that is appended", "append less", "call(append(list, list...))", []string{"call(list)"}},
		{"one element of two", "append less", "list = append(list, a, b)", []string{"list = append(list, b)", "list = append(list, a)"}},
		{"an append that is removed as a whole", "append less", "list = append(list, a)", nil},
		{"a function that clones", "do not clone", "call(slices.Clone(list))", []string{"call(list)"}},
		{"a method that clones", "do not clone", "call((&reasonA).clone())", []string{"call((&reasonA))"}},
		{"a clone by append", "do not clone", "call(append([]int(nil), list...))", []string{"call(list)"}},
		{"an append to a list", "do not clone", "call(append(list, list...))", nil},
		{"a text that is cloned", "do not clone", "call(strings.Clone(other))", nil},
		{"a field", "drop a field", "_ = pair{a: 1}", []string{"_ = pair{}"}},
		{"each field", "drop a field", "_ = &pair{a: 1, b: a, ok: true}", []string{
			"_ = &pair{b: a, ok: true}", "_ = &pair{a: 1, ok: true}", "_ = &pair{a: 1, b: a}",
		}},
		{"fields on lines of their own", "drop a field", "_ = pair{\n\ta: 1,\n\tok: true,\n}", []string{"", ""}},
		{"a field that is zero anyway", "drop a field", "_ = pair{a: 0, ok: false}", nil},
		{"fields without names", "drop a field", "_ = pair{1, 2, true}", nil},
		{"elements of a map", "drop a field", "_ = map[int]bool{1: true}", nil},
		{"fields of an element", "drop a field", "_ = []*pair{{a: 1}}", []string{"_ = []*pair{{}}"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, m := range mutantsOf(t, c.statements) {
				if operator, after, _ := strings.Cut(m, ": "); operator == c.operator {
					got = append(got, after)
				}
			}
			compareMutants(t, got, slices.Clone(c.want))
		})
	}
}
