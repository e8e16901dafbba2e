// Package fields has the fields of commands, and of the documents in them: which there are, which types their values may have, and
// the errors of those that are not so.
package fields
