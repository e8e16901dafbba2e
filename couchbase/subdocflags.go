package couchbase

import "github.com/holdfast-db/holdfast/internal/couchbase/memd"

// SubdocDocFlag modifies a whole sub-document operation.
type SubdocDocFlag uint8

// The flags of an operation.
const (
	SubdocDocFlagNone            = SubdocDocFlag(0)
	SubdocDocFlagMkDoc           = SubdocDocFlag(memd.DocUpsert)          // the document is made if there is none
	SubdocDocFlagAddDoc          = SubdocDocFlag(memd.DocInsert)          // the document must not exist, and is made
	SubdocDocFlagAccessDeleted   = SubdocDocFlag(memd.DocAccessDeleted)   // the document may be deleted
	SubdocDocFlagCreateAsDeleted = SubdocDocFlag(memd.DocCreateAsDeleted) // the document is made as a deleted one
)

// SubdocFlag modifies one part of a sub-document operation. The specs set it by their options.
type SubdocFlag uint8

// The flags of a part.
const (
	SubdocFlagNone       = SubdocFlag(0)
	SubdocFlagCreatePath = SubdocFlag(memd.SpecCreatePath)   // the parents of the path are made
	SubdocFlagXattr      = SubdocFlag(memd.SpecXattr)        // the path begins in the extended attributes
	SubdocFlagUseMacros  = SubdocFlag(memd.SpecExpandMacros) // the value has macros
)

// StoreSemantics says whether [Collection.MutateIn] makes the document.
type StoreSemantics uint8

// The semantics.
const (
	StoreSemanticsReplace StoreSemantics = iota // the document must exist
	StoreSemanticsUpsert                        // the document is made if there is none
	StoreSemanticsInsert                        // the document must not exist, and is made
)
