package memd

import (
	"fmt"
	"maps"
	"slices"
)

// Status is a server's answer to a command.
type Status uint16

// The statuses.
const (
	StatusSuccess              Status = 0x00
	StatusKeyNotFound          Status = 0x01
	StatusKeyExists            Status = 0x02
	StatusTooBig               Status = 0x03
	StatusInvalidArguments     Status = 0x04
	StatusNotStored            Status = 0x05
	StatusBadDelta             Status = 0x06
	StatusNotMyVBucket         Status = 0x07
	StatusNoBucket             Status = 0x08
	StatusLocked               Status = 0x09
	StatusWouldThrottle        Status = 0x0c
	StatusConfigOnly           Status = 0x0d
	StatusNotLocked            Status = 0x0e
	StatusCASInvalid           Status = 0x0f
	StatusAuthStale            Status = 0x1f
	StatusAuthError            Status = 0x20
	StatusAuthContinue         Status = 0x21
	StatusRange                Status = 0x22
	StatusRollback             Status = 0x23
	StatusAccess               Status = 0x24
	StatusNotInitialized       Status = 0x25
	StatusEncryptionMissing    Status = 0x26
	StatusChecksum             Status = 0x27
	StatusExpiryOverflow       Status = 0x28
	StatusLockOverflow         Status = 0x29
	StatusRateLimitIngress     Status = 0x30
	StatusRateLimitEgress      Status = 0x31
	StatusRateLimitConnections Status = 0x32
	StatusRateLimitCommands    Status = 0x33
	StatusScopeSizeLimit       Status = 0x34
	StatusBucketSizeLimit      Status = 0x35
	StatusResidentRatioLimit   Status = 0x36
	StatusDataSizeLimit        Status = 0x37
	StatusDiskSpaceLimit       Status = 0x38
	StatusBucketPaused         Status = 0x50
	StatusCancelled            Status = 0x51
	StatusUnknownFrame         Status = 0x80
	StatusUnknownCommand       Status = 0x81
	StatusOutOfMemory          Status = 0x82
	StatusNotSupported         Status = 0x83
	StatusInternal             Status = 0x84
	StatusBusy                 Status = 0x85
	StatusTemporaryFailure     Status = 0x86
	StatusXattrInvalid         Status = 0x87
	StatusUnknownCollection    Status = 0x88
	StatusManifestRefused      Status = 0x8a
	StatusUnknownScope         Status = 0x8c
	StatusDurabilityInvalid    Status = 0xa0
	StatusDurabilityImpossible Status = 0xa1
	StatusSyncWriteInProgress  Status = 0xa2
	StatusSyncWriteAmbiguous   Status = 0xa3
	StatusSyncWriteReCommit    Status = 0xa4
	StatusRangeScanCancelled   Status = 0xa5
	StatusRangeScanMore        Status = 0xa6
	StatusRangeScanComplete    Status = 0xa7
	StatusRangeScanUUID        Status = 0xa8
	StatusPathNotFound         Status = 0xc0
	StatusPathMismatch         Status = 0xc1
	StatusPathInvalid          Status = 0xc2
	StatusPathTooBig           Status = 0xc3
	StatusDocumentTooDeep      Status = 0xc4
	StatusCannotInsert         Status = 0xc5
	StatusNotJSON              Status = 0xc6
	StatusNumberRange          Status = 0xc7
	StatusDeltaInvalid         Status = 0xc8
	StatusPathExists           Status = 0xc9
	StatusValueTooDeep         Status = 0xca
	StatusBadCombination       Status = 0xcb
	StatusMultiFailure         Status = 0xcc
	StatusSuccessDeleted       Status = 0xcd
	StatusXattrFlagCombination Status = 0xce
	StatusXattrKeyCombination  Status = 0xcf
	StatusXattrUnknownMacro    Status = 0xd0
	StatusXattrUnknownVirtual  Status = 0xd1
	StatusXattrCannotModify    Status = 0xd2
	StatusMultiFailureDeleted  Status = 0xd3
	StatusXattrOrder           Status = 0xd4
	StatusXattrUnknownVMacro   Status = 0xd5
	StatusCannotRevive         Status = 0xd6
	StatusDeletedHasNoValue    Status = 0xd7
	StatusXattrNotBinary       Status = 0xd8
	firstTestStatus            Status = 0xff00 // from here on statuses are reserved for tests
)

var statusTexts = map[Status]string{
	StatusSuccess: "success", StatusKeyNotFound: "document not found", StatusKeyExists: "document exists, or its CAS is another",
	StatusTooBig: "value too large", StatusInvalidArguments: "invalid arguments", StatusNotStored: "not stored",
	StatusBadDelta: "the value is not a number", StatusNotMyVBucket: "not my vbucket", StatusNoBucket: "no bucket selected",
	StatusLocked: "document locked", StatusWouldThrottle: "the command would be throttled", StatusConfigOnly: "the node has only the configuration",
	StatusNotLocked: "document not locked", StatusCASInvalid: "the document's CAS is invalid", StatusAuthStale: "authentication is stale",
	StatusAuthError: "authentication failed", StatusAuthContinue: "authentication continues", StatusRange: "out of range",
	StatusRollback: "rollback", StatusAccess: "no access", StatusNotInitialized: "the node is not initialized",
	StatusEncryptionMissing: "the encryption key is not available", StatusChecksum: "checksum error", StatusExpiryOverflow: "expiry too large",
	StatusLockOverflow: "lock time too large", StatusRateLimitIngress: "rate limit of incoming bytes",
	StatusRateLimitEgress: "rate limit of outgoing bytes", StatusRateLimitConnections: "rate limit of connections",
	StatusRateLimitCommands: "rate limit of commands", StatusScopeSizeLimit: "the scope has too much data",
	StatusBucketSizeLimit: "the bucket has too much data", StatusResidentRatioLimit: "the resident ratio is too low",
	StatusDataSizeLimit: "the node has too much data", StatusDiskSpaceLimit: "the node's disk is full", StatusBucketPaused: "the bucket is paused",
	StatusCancelled: "cancelled without effect", StatusUnknownFrame: "unknown framing extra", StatusUnknownCommand: "unknown command",
	StatusOutOfMemory: "out of memory", StatusNotSupported: "not supported", StatusInternal: "internal error", StatusBusy: "busy",
	StatusTemporaryFailure: "temporary failure", StatusXattrInvalid: "extended attributes are invalid",
	StatusUnknownCollection: "unknown collection", StatusManifestRefused: "the manifest cannot be applied", StatusUnknownScope: "unknown scope",
	StatusDurabilityInvalid: "the durability level is invalid", StatusDurabilityImpossible: "durability is impossible",
	StatusSyncWriteInProgress: "a durable write of the document is in progress", StatusSyncWriteAmbiguous: "the outcome of the durable write is unknown",
	StatusSyncWriteReCommit: "a durable write of the document is being committed again", StatusRangeScanCancelled: "range scan cancelled",
	StatusRangeScanMore: "range scan has more", StatusRangeScanComplete: "range scan complete", StatusRangeScanUUID: "range scan: another vbucket uuid",
	StatusPathNotFound: "path not found", StatusPathMismatch: "path mismatch", StatusPathInvalid: "path invalid", StatusPathTooBig: "path too big",
	StatusDocumentTooDeep: "document too deep", StatusCannotInsert: "value cannot be inserted", StatusNotJSON: "document is not JSON",
	StatusNumberRange: "number out of range", StatusDeltaInvalid: "delta invalid", StatusPathExists: "path exists",
	StatusValueTooDeep: "value too deep", StatusBadCombination: "bad combination of commands", StatusMultiFailure: "some commands failed",
	StatusSuccessDeleted: "success on a deleted document", StatusXattrFlagCombination: "bad combination of xattr flags",
	StatusXattrKeyCombination: "more than one xattr key", StatusXattrUnknownMacro: "unknown macro",
	StatusXattrUnknownVirtual: "unknown virtual attribute", StatusXattrCannotModify: "the virtual attribute cannot be changed",
	StatusMultiFailureDeleted: "some commands failed on a deleted document", StatusXattrOrder: "xattrs must come first",
	StatusXattrUnknownVMacro: "unknown virtual macro", StatusCannotRevive: "a document that is there cannot be revived",
	StatusDeletedHasNoValue: "a deleted document has no value", StatusXattrNotBinary: "the xattr is not binary",
}

// String returns a text of this module, with the number: servers have texts of their own in their error maps.
func (s Status) String() string {
	if text, ok := statusTexts[s]; ok {
		return fmt.Sprintf("%s (%#02x)", text, uint16(s))
	}
	return fmt.Sprintf("unknown status %#02x", uint16(s))
}

// Known reports whether this package names the status. The others are looked up in the server's error map.
func (s Status) Known() bool {
	_, ok := statusTexts[s]
	return ok
}

// Statuses returns the statuses that this package names, in their order.
func Statuses() []Status { return slices.Sorted(maps.Keys(statusTexts)) }

// ForTests reports whether the status is one of those that are reserved for tests.
func (s Status) ForTests() bool { return s >= firstTestStatus }
