// Package simcheck has what the simulations share: the violations of their rules, the outcomes of calls, the check whether goroutines
// are left, the run of the linearizability checker, and the search for a life that breaks a rule.
package simcheck
