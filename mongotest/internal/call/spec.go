package call

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// Spec describes a command.
type Spec struct {
	Index      int // among all commands
	place      Place
	Run        func(*Call) error
	Plans      func(*Call) []Plan // how it or each of its statements finds documents, for the profiler; nil if it is no search
	Name       string
	Greeting   bool            // hello and its older names
	Since      version.Version // the first that has it; zero: all have
	Gone       version.Version // the first that has it no more; zero: none
	Open       bool            // may be run by who has not authenticated
	Service    bool            // no application's work: not in the journal
	Write      bool            // takes a write concern
	Retryable  bool            // takes a transaction number
	Snapshots  bool            // takes the read concern "snapshot"
	OfCursor   bool            // its cursor determines what it reads: it takes every read concern, without effect
	Linearizes bool            // takes the read concern "linearizable"
	Bare       bool            // its expressions see no $$NOW and no $$CLUSTER_TIME
	Statements string          // the field that holds its statements
	Fields     *fields.Set     // what it may have besides what every command may; nil if it looks itself
	InTxn      version.Version // the first in which it may be part of a transaction; zero: it may not
	Ends       bool            // it ends a transaction
}

// Specs are the commands by name, which commands.go registers: what serves connections does not depend on the commands. It is never
// written to after the program began.
var Specs = make(map[string]*Spec)

// Register adds commands. It is called while the program begins.
func Register(p Place, list []*Spec) {
	for _, s := range list {
		s.Index, s.place = len(Specs), p
		s.Fields = fields.Of(s.Name)
		Specs[s.Name] = s
	}
}
