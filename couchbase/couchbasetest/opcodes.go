package couchbasetest

import (
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// Opcode is the number of a command of the key-value protocol. String returns its name.
type Opcode = memd.Opcode

// Status is the number of a status of the key-value protocol. String returns its name.
type Status = memd.Status

// AnyOpcode stands for all commands but those with which a connection begins: HELLO, the logins, the error map, and the selection of
// a bucket, and for those which clients send for themselves: NOOP and the cluster map.
const AnyOpcode Opcode = 0xff

// forItself reports whether clients send a command for themselves.
func forItself(op Opcode) bool {
	switch op {
	case memd.OpHello, memd.OpGetErrorMap, memd.OpSASLListMechanisms, memd.OpSASLAuth, memd.OpSASLStep, memd.OpSelectBucket,
		memd.OpGetClusterConfig, memd.OpNoop, memd.OpCollectionID, memd.OpCollectionsManifest, memd.OpScopeID:
		return true
	}
	return false
}
