package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// around is a package with a place for statements.
const around = `package p

import (
	"slices"
	"strings"
	"time"
)

type stage uint8

const (
	stageA stage = iota
	stageB
	stageC
)

type kind uint8

const (
	kindA     kind = 0
	kindB     kind = 1
	kindOther kind = 0
)

const (
	labelA = "a"
	labelB = "b"
	other  = "c"
)

const limit = 10

type reason struct{ name string }

func (r *reason) clone() *reason { return r }

type pair struct {
	a, b int
	ok   bool
}

var (
	reasonA = reason{"a"}
	reasonB = reason{"b"}
)

func call(...any) bool { return limit > 0 || slices.Contains([]string{strings.Clone(other)}, other) }

func f(a, b int, s stage, ok bool, list []int, err error, timer *time.Timer) (bool, error) {
	STATEMENTS
	return ok, err
}
`

// parsedSource type-checks a package of one file.
func parsedSource(t *testing.T, text string) *source {
	t.Helper()
	s := &source{path: "./p", fset: token.NewFileSet(), from: importer.Default(), info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
	}}
	f := &file{name: "p/p.go", text: []byte(text)}
	var err error
	if f.syntax, err = parser.ParseFile(s.fset, f.name, text, parser.ParseComments); err != nil {
		t.Fatal(err)
	}
	s.files = []*file{f}
	if s.types, err = s.check("p", nil, nil, s.info); err != nil {
		t.Fatal(err)
	}
	return s
}

// mutantsOf returns the lines that the compiling mutants of a function's statements have, each with its operator.
func mutantsOf(t *testing.T, statements string) []string {
	t.Helper()
	s := parsedSource(t, strings.Replace(around, "STATEMENTS", statements, 1))
	var got []string
	for _, site := range s.sites() {
		for _, m := range site.mutants {
			before, after := m.lines()
			if m.function == "f" && before != "return ok, err" && s.compiles(m) {
				got = append(got, m.operator+": "+after)
			}
		}
	}
	return got
}

func compareMutants(t *testing.T, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestTheMutantsOfALine(t *testing.T) {
	for _, c := range []struct {
		name, statements string
		want             []string
	}{
		{"a condition", "if ok { _ = a }", []string{
			"negate the condition: if !(ok) { _ = a }", "remove the assignment: if ok {  }",
			"force the condition: if (ok) || true { _ = a }",
		}},
		{"a condition for equality is swapped only", "if err != nil {\n\t_ = a\n}", []string{
			"swap the operator: if err == nil {", "remove the assignment: ",
		}},
		{"comparisons", "_ = a < b", []string{"remove the assignment: ", "swap the operator: _ = a <= b"}},
		{"each comparison", "_, _, _ = a <= b, a > b, a >= b", []string{
			"remove the assignment: ", "swap the operator: _, _, _ = a < b, a > b, a >= b",
			"swap the operator: _, _, _ = a <= b, a >= b, a >= b", "swap the operator: _, _, _ = a <= b, a > b, a > b",
			"remove one of the assignments: _, _ = a > b, a >= b", "remove one of the assignments: _, _ = a <= b, a >= b",
			"remove one of the assignments: _, _ = a <= b, a > b",
		}},
		{"and, or", "for ok && a == b {\n}", []string{
			"negate the condition: for !(ok && a == b) {", "swap the operator: for ok || a == b {",
			"swap the operator: for ok && a != b {",
			"drop an operand: for ok {", "drop an operand: for a == b {",
		}},
		{"an early return", "if ok {\n\treturn true, nil\n}", []string{
			"negate the condition: if !(ok) {", "remove the early end: ", "swap true and false: return false, nil",
			"force the condition: if (ok) || true {",
		}},
		{"a return that is none", "for {\n\treturn true, nil\n}", []string{"swap true and false: return false, nil"}},
		{"a call", "call(a)", []string{"remove the call: "}},
		{"a defer", "defer call()", []string{"remove the defer: "}},
		{"stopping a timer at the end changes nothing", "defer timer.Stop()", nil},
		{"stopping it now does", "timer.Stop()", []string{"remove the call: "}},
		{"a new variable stays, and must be used", "x := a\ncall(x)", nil},
		{"numbers", "_ = a + 7", []string{
			"remove the assignment: ", "swap the operator: _ = a - 7", "change the number by one: _ = a + 8",
			"change the number by one: _ = a + 6",
			"drop an operand: _ = a",
		}},
		{"a text is not subtracted", "_ = labelB + other", []string{
			"remove the assignment: ", "swap the constant: _ = labelA + other",
		}},
		{"a capacity is only a hint", "_ = make([]int, 3, 30)", []string{
			"remove the assignment: ", "change the number by one: _ = make([]int, 4, 30)",
			"change the number by one: _ = make([]int, 2, 30)",
		}},
		{"values of a case", "switch a {\ncase 1, b, limit:\n}", []string{
			"drop a value of the case: case b, limit:", "drop a value of the case: case 1, limit:",
			"drop a value of the case: case 1, b:", "change the number by one: case 2, b, limit:",
			"change the number by one: case 0, b, limit:",
		}},
		{"values of a case that does nothing", "switch s {\ncase stageA, stageB:\n}", nil},
		{"values of a case that does what follows", "switch s {\ncase stageA, stageB:\n\treturn ok, err\n}", nil},
		{"values of a case that does what default does", "switch a {\ncase 1, b:\n\treturn ok, nil\ndefault:\n\treturn ok, nil\n}", []string{
			"drop a value of the case: case b:", "drop a value of the case: case 1:", "change the number by one: case 2, b:",
			"change the number by one: case 0, b:", "remove the early end: ", "remove the early end: ",
		}},
		{"conditions of cases", "switch {\ncase ok:\n\treturn false, nil\n}", []string{
			"remove the early end: ", "negate the condition: case !(ok):", "swap true and false: return true, nil",
		}},
		{"a constant of a type", "_ = s == stageA", []string{
			"remove the assignment: ", "swap the operator: _ = s != stageA", "swap the constant: _ = s == stageB",
			"swap the constant: _ = s == stageC",
		}},
		{"two constants of one value", "_ = kindA", []string{"remove the assignment: ", "swap the constant: _ = kindB"}},
		{"a variable that is used like a constant", "_ = reasonA", []string{
			"remove the assignment: ", "swap the constant: _ = reasonB",
		}},
		{"append", "list = append(list, a)", []string{
			"remove the assignment: ", "forget what is appended to: list = append(list[:0:0], a)",
		}},
		{"append to nothing", "_ = append([]int(nil), a)", []string{"remove the assignment: ", "append less: _ = []int(nil)"}},
		{"select", "select {\ndefault:\n\tcall()\n}", []string{"remove the call: "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			compareMutants(t, mutantsOf(t, c.statements), c.want)
		})
	}
}

// Numbers beside iota and in other functions.
func TestMutantsOfConstants(t *testing.T) {
	s := parsedSource(t, `package p

const a, b = 1 << iota, 5

const c = 5
`)
	var got []string
	for _, site := range s.sites() {
		for _, m := range site.mutants {
			_, after := m.lines()
			got = append(got, after)
		}
	}
	if want := []string{"const c = 6", "const c = 4"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

const lines = `package p

func f(a, b int) bool {
	return a < b
}

func g(a, b int) bool {
	return a < b
}

func h(a, b int) (bool, bool) {
	x := a < b
	y := a < b
	return x, y
}
`

func TestADrawDependsOnTheSeedAndTheLineOnly(t *testing.T) {
	text := func(mutants []*mutant) []string {
		var out []string
		for _, m := range mutants {
			_, after := m.lines()
			out = append(out, m.function+": "+after)
		}
		return out
	}
	sites := parsedSource(t, lines).sites()
	keys := map[string]bool{}
	for _, s := range sites {
		keys[s.key] = true
	}
	if len(sites) != 4 || len(keys) != 4 {
		t.Fatalf("%d sites with %d keys, want 4", len(sites), len(keys))
	}
	one := text(draw(sites, options{seed: 1}))
	if again := text(draw(sites, options{seed: 1})); !slices.Equal(one, again) {
		t.Errorf("%v, then %v", one, again)
	}
	moved := parsedSource(t, strings.Replace(lines, "func f", "\n// A comment.\nvar v = 1\n\nfunc f", 1)).sites()
	rest := slices.DeleteFunc(text(draw(moved, options{seed: 1})), func(s string) bool { return strings.HasPrefix(s, ":") })
	if !slices.Equal(one, rest) {
		t.Errorf("after lines were added: %v, before %v", rest, one)
	}
	orders := map[string]bool{}
	for seed := range uint64(20) {
		orders[strings.Join(text(draw(sites, options{seed: seed})), ";")] = true
	}
	if len(orders) < 5 {
		t.Errorf("20 seeds draw only %d orders", len(orders))
	}
}

func TestTheTableOfEquivalentMutants(t *testing.T) {
	const entry = "file: p/p.go\nfunction: h\nline: x := a < b\nmutant: x := a <= b\nproof: none, it is only a test\n"
	code := parsedSource(t, lines)
	sites := code.sites()
	table, err := parseEquivalent("# A comment.\n\n" + entry)
	if err != nil {
		t.Fatal(err)
	}
	if err := table.check([]*source{code}); err != nil {
		t.Error(err)
	}
	if kept := table.without(sites); len(kept) != len(sites)-1 {
		t.Errorf("%d of %d sites are left", len(kept), len(sites))
	}
	for name, text := range map[string]string{
		"an entry that is no mutant of the line": strings.Replace(entry, "<=", ">", 1),
		"an entry whose line is gone":            strings.Replace(entry, "x := a < b", "z := a < b", 1),
		"an entry one of whose mutants is none":  strings.Replace(entry, "proof", "mutant: x := a > b\nproof", 1),
		"an entry of another function":           strings.Replace(entry, "function: h", "function: f", 1),
		"an entry of another file":               strings.Replace(entry, "p.go", "q.go", 1),
	} {
		table, err := parseEquivalent(text)
		if err != nil {
			t.Fatal(err)
		}
		if table.check([]*source{code}) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if table, err = parseEquivalent(strings.Replace(entry, "p/p.go", "q/p.go", 1)); err != nil || table.check([]*source{code}) != nil {
		t.Errorf("an entry of a package that is not mutated: %v", err)
	}
	for name, text := range map[string]string{
		"an entry without a proof":  strings.Replace(entry, "proof:", "#", 1),
		"an empty proof":            "file: a\nfunction: f\nline: b\nmutant:\nproof:\n",
		"an entry without a mutant": strings.Replace(entry, "mutant:", "#", 1),
		"another field":             entry + "reason: x\n",
		"more than ten entries":     strings.Repeat(entry+"\n", 11),
	} {
		if _, err := parseEquivalent(text); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// The table in the repository, so that an entry which does not hold any more is found before the mutants are run.
func TestTheTableHolds(t *testing.T) {
	t.Chdir("../../..")
	table, err := readEquivalent("internal/devtools/mutation/" + equivalentFile)
	if err != nil {
		t.Fatal(err)
	}
	wanted := targets
	for _, e := range table {
		wanted = append(slices.Clip(wanted), e.in())
	}
	sources, err := loadSources(wanted)
	if err != nil {
		t.Fatal(err)
	}
	if err := table.check(sources); err != nil {
		t.Error(err)
	}
	packages := map[string]int{}
	for _, s := range sources {
		packages[s.path] = len(s.sites())
	}
	for _, e := range table {
		if packages[e.in()] == 0 {
			t.Errorf("there is no package %s", e.in())
		}
	}
	for _, p := range targets {
		if packages[p] < 100 {
			t.Errorf("%s has only %d places to change", p, packages[p])
		}
	}
}
