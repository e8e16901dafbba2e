package couchbase

// MutationMacro is a value that the server fills in. It can only be a value in extended attributes, by [InsertSpec], [UpsertSpec],
// [ReplaceSpec] and the array specs.
type MutationMacro string

// The macros.
const (
	MutationMacroCAS         MutationMacro = `"${Mutation.CAS}"`          // the document's CAS after this operation
	MutationMacroSeqNo       MutationMacro = `"${Mutation.seqno}"`        // the sequence number of this operation
	MutationMacroValueCRC32c MutationMacro = `"${Mutation.value_crc32c}"` // the checksum of the document's value
)
