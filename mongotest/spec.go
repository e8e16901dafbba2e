package mongotest

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// spec describes a command.
type spec struct {
	index      int // among all commands
	place      place
	run        func(*call) error
	name       string
	greeting   bool            // hello and its older names
	since      version.Version // the first that has it; zero: all have
	gone       version.Version // the first that has it no more; zero: none
	open       bool            // may be run by who has not authenticated
	service    bool            // no application's work: not in the journal
	write      bool            // takes a write concern
	retryable  bool            // takes a transaction number
	snapshots  bool            // takes the read concern "snapshot"
	linearizes bool            // takes the read concern "linearizable"
	bare       bool            // its expressions see no $$NOW and no $$CLUSTER_TIME
	statements string          // the field that holds its statements
	fields     *fields.Set     // what it may have besides what every command may; nil if it looks itself
	inTxn      version.Version // the first in which it may be part of a transaction; zero: it may not
	ends       bool            // it ends a transaction
}

// specs are the commands by name, which commands.go registers: what serves connections does not depend on the commands. It is never
// written to after the program began.
var specs = make(map[string]*spec)

func register(p place, list []*spec) {
	for _, s := range list {
		s.index, s.place = len(specs), p
		s.fields = fields.Of(s.name)
		specs[s.name] = s
	}
}
