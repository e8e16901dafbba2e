// Package call executes a command: it parses the message, knows who sent it and what that user may do, reads the data as the command may
// see them, writes them in units of work, and writes the reply. It knows the replica set below it, and neither
// connections nor any command: those register themselves ([Register]).
//
// One command through it: [Call.Parse] takes the message apart and refuses what no command may have. [Call.Execute] lets a fail point act,
// has the command's own function run (at a member that a mongos chooses, see route.go), waits for the write concern, and writes the reply
// with its labels and times. The function asks the Call for its arguments, reads by [Call.Reading] or [Call.Look], writes by [Call.Writing]
// or [Call.WriteStatements], and answers with a cursor ([Call.ReplyCursor]) or with fields that it appends.
//
// What needs the set's mutex takes a [Locked]. A Call is used by one goroutine at a time.
package call
