package memd

import "fmt"

// Opcode names the command of a packet.
type Opcode byte

// The commands of a client.
const (
	OpGet                  Opcode = 0x00
	OpSet                  Opcode = 0x01
	OpAdd                  Opcode = 0x02
	OpReplace              Opcode = 0x03
	OpDelete               Opcode = 0x04
	OpIncrement            Opcode = 0x05
	OpDecrement            Opcode = 0x06
	OpNoop                 Opcode = 0x0a
	OpAppend               Opcode = 0x0e
	OpPrepend              Opcode = 0x0f
	OpStat                 Opcode = 0x10
	OpTouch                Opcode = 0x1c
	OpGetAndTouch          Opcode = 0x1d
	OpHello                Opcode = 0x1f
	OpSASLListMechanisms   Opcode = 0x20
	OpSASLAuth             Opcode = 0x21
	OpSASLStep             Opcode = 0x22
	OpGetReplica           Opcode = 0x83
	OpSelectBucket         Opcode = 0x89
	OpObserveSeqno         Opcode = 0x91
	OpObserve              Opcode = 0x92
	OpGetLocked            Opcode = 0x94
	OpUnlock               Opcode = 0x95
	OpGetMeta              Opcode = 0xa0
	OpGetClusterConfig     Opcode = 0xb5
	OpGetRandom            Opcode = 0xb6
	OpCollectionsManifest  Opcode = 0xba
	OpCollectionID         Opcode = 0xbb
	OpScopeID              Opcode = 0xbc
	OpSubdocGet            Opcode = 0xc5
	OpSubdocExists         Opcode = 0xc6
	OpSubdocDictAdd        Opcode = 0xc7
	OpSubdocDictSet        Opcode = 0xc8
	OpSubdocDelete         Opcode = 0xc9
	OpSubdocReplace        Opcode = 0xca
	OpSubdocArrayPushLast  Opcode = 0xcb
	OpSubdocArrayPushFirst Opcode = 0xcc
	OpSubdocArrayInsert    Opcode = 0xcd
	OpSubdocArrayAddUnique Opcode = 0xce
	OpSubdocCounter        Opcode = 0xcf
	OpSubdocMultiLookup    Opcode = 0xd0
	OpSubdocMultiMutation  Opcode = 0xd1
	OpSubdocGetCount       Opcode = 0xd2
	OpSubdocReplaceBody    Opcode = 0xd3 // with an extended attribute
	OpGetErrorMap          Opcode = 0xfe
)

// ServerOpClusterMap is the command of a server request that tells of a new cluster map.
const ServerOpClusterMap Opcode = 0x01

var opcodeNames = map[Opcode]string{
	OpGet: "GET", OpSet: "SET", OpAdd: "ADD", OpReplace: "REPLACE", OpDelete: "DELETE", OpIncrement: "INCREMENT", OpDecrement: "DECREMENT",
	OpNoop: "NOOP", OpAppend: "APPEND", OpPrepend: "PREPEND", OpStat: "STAT", OpTouch: "TOUCH", OpGetAndTouch: "GAT", OpHello: "HELLO",
	OpSASLListMechanisms: "SASL_LIST_MECHS", OpSASLAuth: "SASL_AUTH", OpSASLStep: "SASL_STEP", OpGetReplica: "GET_REPLICA",
	OpSelectBucket: "SELECT_BUCKET", OpObserveSeqno: "OBSERVE_SEQNO", OpObserve: "OBSERVE", OpGetLocked: "GET_LOCKED", OpUnlock: "UNLOCK_KEY",
	OpGetMeta: "GET_META", OpGetClusterConfig: "GET_CLUSTER_CONFIG", OpGetRandom: "GET_RANDOM_KEY",
	OpCollectionsManifest: "COLLECTIONS_GET_MANIFEST", OpCollectionID: "COLLECTIONS_GET_ID", OpScopeID: "COLLECTIONS_GET_SCOPE_ID",
	OpSubdocGet: "SUBDOC_GET", OpSubdocExists: "SUBDOC_EXISTS", OpSubdocDictAdd: "SUBDOC_DICT_ADD", OpSubdocDictSet: "SUBDOC_DICT_UPSERT",
	OpSubdocDelete: "SUBDOC_DELETE", OpSubdocReplace: "SUBDOC_REPLACE", OpSubdocArrayPushLast: "SUBDOC_ARRAY_PUSH_LAST",
	OpSubdocArrayPushFirst: "SUBDOC_ARRAY_PUSH_FIRST", OpSubdocArrayInsert: "SUBDOC_ARRAY_INSERT",
	OpSubdocArrayAddUnique: "SUBDOC_ARRAY_ADD_UNIQUE", OpSubdocCounter: "SUBDOC_COUNTER", OpSubdocMultiLookup: "SUBDOC_MULTI_LOOKUP",
	OpSubdocMultiMutation: "SUBDOC_MULTI_MUTATION", OpSubdocGetCount: "SUBDOC_GET_COUNT",
	OpSubdocReplaceBody: "SUBDOC_REPLACE_BODY_WITH_XATTR", OpGetErrorMap: "GET_ERROR_MAP",
}

// String returns the name of a client's command.
func (o Opcode) String() string {
	if name, ok := opcodeNames[o]; ok {
		return name
	}
	return fmt.Sprintf("opcode %#02x", byte(o))
}

// InCollection reports whether the command's key begins with the id of a collection, once collections are negotiated.
func (o Opcode) InCollection() bool {
	switch {
	case o <= OpDecrement, o == OpAppend, o == OpPrepend, o == OpTouch, o == OpGetAndTouch, o == OpGetReplica, o == OpGetLocked, o == OpUnlock,
		o == OpGetMeta, o == 0xa2, o == 0xa8, // 0xa2 and 0xa8 set and delete with metadata
		o >= OpSubdocGet && o <= OpSubdocReplaceBody:
		return true
	}
	return false
}
