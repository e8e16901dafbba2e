package mongo_test

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/holdfast-db/holdfast/internal/cli/rules"
)

var allRules = flag.Bool("all-rules", false, "test all cases of the table of rules, not only every pair of their factors")

// ruledCase is a case of the table of rules, with the place of its value in each factor: the deployment, the operation, the failure and the
// options.
type ruledCase struct {
	rules.MongoCase
	levels [4]int
}

// ruledOptions are the options of an operation, alone and together.
var ruledOptions = []func(*rules.MongoCase){
	func(*rules.MongoCase) {},
	func(c *rules.MongoCase) { c.Off = true },
	func(c *rules.MongoCase) { c.Deadline = true },
	func(c *rules.MongoCase) { c.InTransaction = true },
	func(c *rules.MongoCase) { c.Unacknowledged = true },
	func(c *rules.MongoCase) { c.InRequest = true },
	func(c *rules.MongoCase) { c.InRequest, c.Deadline = true, true },
	func(c *rules.MongoCase) { c.InRequest, c.Off = true, true },
}

// ruledCases returns every case that can happen.
func ruledCases(t *testing.T) []ruledCase {
	t.Helper()
	var operations []rules.MongoOperation
	for _, name := range rules.MongoOperations() {
		o, err := rules.MongoOperationNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		operations = append(operations, o)
	}
	failures := ruledFailures(t)
	var cases []ruledCase
	for di, deployment := range ruledDeployments {
		labels, err := rules.LabelsErrors(deployment.version)
		if err != nil {
			t.Fatal(err)
		}
		for oi, operation := range operations {
			for fi, failure := range failures {
				for si, set := range ruledOptions {
					c := rules.MongoCase{Server: deployment.server, Before44: !labels, Operation: operation, Failure: failure}
					if set(&c); possible(&c) {
						cases = append(cases, ruledCase{c, [4]int{di, oi, fi, si}})
					}
				}
			}
		}
	}
	return cases
}

// pair is two values of different factors.
type pair struct{ factor, level, otherFactor, otherLevel int }

func (c *ruledCase) pairs() (all [6]pair) {
	i := 0
	for f := range c.levels {
		for g := range f {
			all[i] = pair{g, c.levels[g], f, c.levels[f]}
			i++
		}
	}
	return all
}

// pairwise returns some of the cases, at most a tenth, and always the same ones: they have every pair of values of two factors that the
// cases have. Most defects of a decision that depends on several factors show themselves with two of them; a fifteenth
// of the cases, drawn at random, is for the others.
func pairwise(cases []ruledCase) []ruledCase {
	seen := map[pair]bool{}
	var chosen []int
	for n, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(cases)) {
		adds := n < len(cases)/15
		for _, p := range cases[i].pairs() {
			adds = adds || !seen[p]
			seen[p] = true
		}
		if adds {
			chosen = append(chosen, i)
		}
	}
	slices.Sort(chosen) // the cases of one operation follow each other
	some := make([]ruledCase, len(chosen))
	for i, at := range chosen {
		some[i] = cases[at]
	}
	return some
}

func TestTheCasesOfTheTableHaveEveryPairOfFactors(t *testing.T) {
	all := ruledCases(t)
	some := pairwise(all)
	if len(some) > len(all)/10 {
		t.Errorf("%d of %d cases are tested by default, more than a tenth", len(some), len(all))
	}
	seen := map[pair]bool{}
	for _, c := range some {
		for _, p := range c.pairs() {
			seen[p] = true
		}
	}
	for _, c := range all {
		for _, p := range c.pairs() {
			if !seen[p] {
				t.Fatalf("no case has %+v", p)
			}
		}
	}
	t.Logf("%d of %d cases, %d pairs", len(some), len(all), len(seen))
}
