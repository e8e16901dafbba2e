// Package simcheck has what the simulations share: the violations of their rules, the outcomes of calls, the check whether goroutines
// are left, and the run of the linearizability checker.
package simcheck
