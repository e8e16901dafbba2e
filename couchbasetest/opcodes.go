package couchbasetest

import (
	"slices"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// Opcode is the number of a command of the key-value protocol. String returns its name.
type Opcode = memd.Opcode

// Status is the number of a status of the key-value protocol. String returns its name.
type Status = memd.Status

// AnyOpcode stands for all commands but those that clients send for themselves: HELLO, the logins, the error map, the selection of a
// bucket, NOOP, the cluster map and the ids of collections.
const AnyOpcode Opcode = 0xff

// ofClients are the commands that clients send for themselves.
var ofClients = []Opcode{
	memd.OpHello, memd.OpGetErrorMap, memd.OpSASLListMechanisms, memd.OpSASLAuth, memd.OpSASLStep, memd.OpSelectBucket, memd.OpGetClusterConfig,
	memd.OpNoop, memd.OpCollectionID, memd.OpCollectionsManifest, memd.OpScopeID,
}

// forItself reports whether clients send a command for themselves.
func forItself(op Opcode) bool { return slices.Contains(ofClients, op) }
