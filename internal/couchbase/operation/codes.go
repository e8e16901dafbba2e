package operation

import (
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

// meaning says what a status means.
type meaning struct {
	kind   error        // the sentinel
	reason retry.Reason // ReasonUnknown: not retried
	// unsettled: the operation may have been applied. All other answers mean that it was not.
	unsettled bool
	// byMap: the server's error map decides whether it is retried.
	byMap bool
	then  then
}

// then is what an operation does about an answer, besides failing.
type then uint8

const (
	thenNothing   then = iota
	thenMap            // take the map of the answer
	thenFetch          // fetch a map
	thenLookUp         // look the collection up
	thenReconnect      // close the connection
	thenSpec           // find the part of a sub-document command that failed
)

// statuses has every status that the client judges itself (RFC 0049, RFC 0058). All others are judged by the server's error map.
var statuses = map[memd.Status]meaning{
	memd.StatusKeyNotFound:      {kind: ErrDocumentNotFound},
	memd.StatusKeyExists:        {kind: ErrDocumentExists},
	memd.StatusTooBig:           {kind: ErrValueTooLarge},
	memd.StatusInvalidArguments: {kind: ErrInvalidArgument},
	memd.StatusNotStored:        {kind: ErrDocumentNotStored},
	memd.StatusBadDelta:         {kind: ErrDeltaInvalid},
	memd.StatusNotMyVBucket:     {kind: ErrNotMyVBucket, reason: couchbasereason.KVNotMyVBucket, then: thenMap},
	memd.StatusNoBucket:         {kind: ErrSocketNotAvailable, reason: couchbasereason.SocketNotAvailable, then: thenReconnect},
	memd.StatusLocked:           {kind: ErrDocumentLocked, reason: couchbasereason.KVLocked},
	memd.StatusConfigOnly:       {kind: ErrConfigOnly, reason: couchbasereason.KVConfigOnly, then: thenFetch},
	memd.StatusNotLocked:        {kind: ErrDocumentNotLocked},
	memd.StatusAuthStale:        {kind: ErrAuthenticationFailure, then: thenReconnect},
	memd.StatusAuthError:        {kind: ErrAuthenticationFailure},
	memd.StatusAccess:           {kind: ErrAuthenticationFailure},
	memd.StatusNotInitialized:   {kind: ErrTemporaryFailure, byMap: true},

	memd.StatusRateLimitIngress:     {kind: ErrRateLimitedFailure},
	memd.StatusRateLimitEgress:      {kind: ErrRateLimitedFailure},
	memd.StatusRateLimitConnections: {kind: ErrRateLimitedFailure},
	memd.StatusRateLimitCommands:    {kind: ErrRateLimitedFailure},
	memd.StatusScopeSizeLimit:       {kind: ErrQuotaLimitedFailure},
	memd.StatusBucketSizeLimit:      {kind: ErrQuotaLimitedFailure},
	memd.StatusResidentRatioLimit:   {kind: ErrQuotaLimitedFailure},
	memd.StatusDataSizeLimit:        {kind: ErrQuotaLimitedFailure},
	memd.StatusDiskSpaceLimit:       {kind: ErrQuotaLimitedFailure},

	memd.StatusUnknownFrame:      {kind: ErrUnsupportedOperation},
	memd.StatusUnknownCommand:    {kind: ErrUnsupportedOperation},
	memd.StatusNotSupported:      {kind: ErrUnsupportedOperation},
	memd.StatusOutOfMemory:       {kind: ErrTemporaryFailure, byMap: true},
	memd.StatusInternal:          {kind: ErrInternalServerFailure},
	memd.StatusBusy:              {kind: ErrTemporaryFailure, byMap: true},
	memd.StatusTemporaryFailure:  {kind: ErrTemporaryFailure, reason: couchbasereason.KVTemporaryFailure},
	memd.StatusUnknownCollection: {kind: ErrCollectionNotFound, reason: couchbasereason.KVCollectionOutdated, then: thenLookUp},
	memd.StatusUnknownScope:      {kind: ErrScopeNotFound, reason: couchbasereason.KVCollectionOutdated, then: thenLookUp},

	memd.StatusDurabilityInvalid:    {kind: ErrDurabilityLevelNotAvailable},
	memd.StatusDurabilityImpossible: {kind: ErrDurabilityImpossible},
	memd.StatusSyncWriteInProgress:  {kind: ErrDurableWriteInProgress, reason: couchbasereason.KVSyncWriteInProgress},
	memd.StatusSyncWriteAmbiguous:   {kind: ErrDurabilityAmbiguous, unsettled: true},
	memd.StatusSyncWriteReCommit:    {kind: ErrDurableWriteReCommitInProgress, reason: couchbasereason.KVSyncWriteReCommitInProgress},

	memd.StatusPathNotFound:         {kind: ErrPathNotFound},
	memd.StatusPathMismatch:         {kind: ErrPathMismatch},
	memd.StatusPathInvalid:          {kind: ErrPathInvalid},
	memd.StatusPathTooBig:           {kind: ErrPathTooBig},
	memd.StatusDocumentTooDeep:      {kind: ErrDocumentTooDeep},
	memd.StatusCannotInsert:         {kind: ErrValueInvalid},
	memd.StatusNotJSON:              {kind: ErrValueNotJSON},
	memd.StatusNumberRange:          {kind: ErrNumberTooBig},
	memd.StatusDeltaInvalid:         {kind: ErrDeltaInvalid},
	memd.StatusPathExists:           {kind: ErrPathExists},
	memd.StatusValueTooDeep:         {kind: ErrValueTooDeep},
	memd.StatusBadCombination:       {kind: ErrInvalidArgument},
	memd.StatusMultiFailure:         {kind: ErrInvalidArgument, then: thenSpec},
	memd.StatusMultiFailureDeleted:  {kind: ErrInvalidArgument, then: thenSpec},
	memd.StatusXattrFlagCombination: {kind: ErrXattrInvalidFlagCombo},
	memd.StatusXattrKeyCombination:  {kind: ErrXattrInvalidKeyCombo},
	memd.StatusXattrUnknownMacro:    {kind: ErrXattrUnknownMacro},
	memd.StatusXattrUnknownVirtual:  {kind: ErrXattrUnknownVirtualAttribute},
	memd.StatusXattrCannotModify:    {kind: ErrXattrCannotModifyVirtualAttribute},
	memd.StatusXattrOrder:           {kind: ErrXattrInvalidOrder},
	memd.StatusXattrUnknownVMacro:   {kind: ErrXattrUnknownMacro},
	memd.StatusCannotRevive:         {kind: ErrDocumentAlreadyAlive},
}

// command is a status as the answer to one command.
type command struct {
	status memd.Status
	opcode memd.Opcode
}

// exceptions are the statuses that mean something else as the answer to one command.
var exceptions = map[command]meaning{
	{memd.StatusKeyExists, memd.OpReplace}:              {kind: ErrCasMismatch},
	{memd.StatusKeyExists, memd.OpAppend}:               {kind: ErrCasMismatch},
	{memd.StatusKeyExists, memd.OpPrepend}:              {kind: ErrCasMismatch},
	{memd.StatusNotStored, memd.OpAdd}:                  {kind: ErrDocumentExists},
	{memd.StatusLocked, memd.OpUnlock}:                  {kind: ErrCasMismatch},
	{memd.StatusUnknownCollection, memd.OpCollectionID}: {kind: ErrCollectionNotFound},
	{memd.StatusUnknownScope, memd.OpCollectionID}:      {kind: ErrScopeNotFound},
	{memd.StatusUnknownCollection, memd.OpScopeID}:      {kind: ErrCollectionNotFound},
	{memd.StatusUnknownScope, memd.OpScopeID}:           {kind: ErrScopeNotFound},
}

// needsCAS are the commands that answer StatusKeyExists because the document has another CAS than the request, if that has one.
var needsCAS = map[memd.Opcode]bool{memd.OpDelete: true, memd.OpSubdocMultiMutation: true}

// meaningOf returns what a status means as the answer to a command, which may have been sent with a CAS.
func meaningOf(status memd.Status, opcode memd.Opcode, cas uint64) meaning {
	if m, ok := exceptions[command{status, opcode}]; ok {
		return m
	}
	if status == memd.StatusKeyExists && cas != 0 && needsCAS[opcode] {
		return meaning{kind: ErrCasMismatch}
	}
	if m, ok := statuses[status]; ok {
		return m
	}
	return meaning{byMap: true}
}
