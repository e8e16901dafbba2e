package couchbasetest

import (
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// command is a command of the key-value protocol.
type command struct {
	extras      []int // the permitted sizes of the extras
	key         bool  // whether it has a key
	keyOptional bool
	value       bool // whether it may have a value
	open        bool // whether it needs no login
	alone       bool // whether it changes the connection
	bucket      bool // whether it needs a bucket
	document    bool // whether its key is a document's
	write       bool // whether it may change a document
	preserves   bool // whether it may be told to keep the document's expiry
	onReplicas  bool // whether it is for replicas
	onActive    bool // whether it is for the active node too, if it is for replicas
	// run executes the command with the cluster's mutex held.
	run func(*exec) *Reply
}

func (c *command) needsBucket() bool { return c.bucket || c.document }

// commands are all that the nodes have, by opcode.
var commands = [256]*command{
	memd.OpNoop:               {extras: sizes(0), open: true, run: noop},
	memd.OpHello:              {extras: sizes(0), key: true, keyOptional: true, value: true, open: true, alone: true, run: hello},
	memd.OpGetErrorMap:        {extras: sizes(0), value: true, open: true, run: getErrorMap},
	memd.OpSASLListMechanisms: {extras: sizes(0), open: true, run: listMechanisms},
	memd.OpSASLAuth:           {extras: sizes(0), key: true, value: true, open: true, alone: true, run: saslAuth},
	memd.OpSASLStep:           {extras: sizes(0), key: true, value: true, open: true, alone: true, run: saslStep},
	memd.OpSelectBucket:       {extras: sizes(0), key: true, keyOptional: true, alone: true, run: selectBucket},
	memd.OpGetClusterConfig:   {extras: sizes(0, 16), run: getClusterConfig},
	memd.OpStat:               {extras: sizes(0), key: true, keyOptional: true, value: true, run: stat},

	memd.OpCollectionsManifest: {extras: sizes(0), bucket: true, run: getManifest},
	memd.OpCollectionID:        {extras: sizes(0), key: true, keyOptional: true, value: true, bucket: true, run: getCollectionID},
	memd.OpScopeID:             {extras: sizes(0), key: true, keyOptional: true, value: true, bucket: true, run: getScopeID},

	memd.OpGet:         {extras: sizes(0), key: true, document: true, run: get},
	memd.OpGetReplica:  {extras: sizes(0), key: true, document: true, onReplicas: true, run: get},
	memd.OpGetMeta:     {extras: sizes(0, 1), key: true, document: true, run: getMeta},
	memd.OpSet:         {extras: sizes(8), key: true, value: true, document: true, write: true, preserves: true, run: set},
	memd.OpAdd:         {extras: sizes(8), key: true, value: true, document: true, write: true, run: add},
	memd.OpReplace:     {extras: sizes(8), key: true, value: true, document: true, write: true, preserves: true, run: replace},
	memd.OpDelete:      {extras: sizes(0), key: true, document: true, write: true, run: remove},
	memd.OpAppend:      {extras: sizes(0), key: true, value: true, document: true, write: true, preserves: true, run: appendValue},
	memd.OpPrepend:     {extras: sizes(0), key: true, value: true, document: true, write: true, preserves: true, run: prependValue},
	memd.OpIncrement:   {extras: sizes(20), key: true, document: true, write: true, preserves: true, run: increment},
	memd.OpDecrement:   {extras: sizes(20), key: true, document: true, write: true, preserves: true, run: decrement},
	memd.OpTouch:       {extras: sizes(4), key: true, document: true, write: true, run: touch},
	memd.OpGetAndTouch: {extras: sizes(4), key: true, document: true, write: true, run: getAndTouch},
	memd.OpGetLocked:   {extras: sizes(0, 4), key: true, document: true, run: getLocked},
	memd.OpUnlock:      {extras: sizes(0), key: true, document: true, run: unlock},

	memd.OpSubdocMultiLookup:   {extras: sizes(0, 1), key: true, value: true, document: true, run: lookupIn},
	memd.OpSubdocMultiMutation: {extras: sizes(0, 1, 4, 5, 8, 9), key: true, value: true, document: true, write: true, preserves: true, run: mutateIn},

	memd.OpObserve:      {extras: sizes(0), value: true, bucket: true, onReplicas: true, onActive: true, run: observe},
	memd.OpObserveSeqno: {extras: sizes(0), value: true, bucket: true, onReplicas: true, onActive: true, run: observeSeqno},
}

// sizes are those that extras may have.
func sizes(n ...int) []int { return n }
