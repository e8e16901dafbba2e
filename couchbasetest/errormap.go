package couchbasetest

import (
	"strconv"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// errorAttributes has what the error map says of each status, besides its name.
var errorAttributes = map[memd.Status][]string{
	memd.StatusSuccess:              {"success"},
	memd.StatusKeyNotFound:          {"item-only"},
	memd.StatusKeyExists:            {"item-only"},
	memd.StatusTooBig:               {"item-only", "invalid-input"},
	memd.StatusInvalidArguments:     {"internal", "invalid-input"},
	memd.StatusNotStored:            {"item-only"},
	memd.StatusBadDelta:             {"item-only", "invalid-input"},
	memd.StatusNotMyVBucket:         {"fetch-config", "invalid-input"},
	memd.StatusNoBucket:             {"conn-state-invalidated"},
	memd.StatusLocked:               {"item-locked", "item-only", "retry-now"},
	memd.StatusWouldThrottle:        {"temp", "retry-later"},
	memd.StatusConfigOnly:           {"fetch-config", "retry-now"},
	memd.StatusNotLocked:            {"item-only"},
	memd.StatusCASInvalid:           {"internal"},
	memd.StatusAuthStale:            {"conn-state-invalidated", "auth"},
	memd.StatusAuthError:            {"conn-state-invalidated", "auth"},
	memd.StatusAuthContinue:         {"special-handling"},
	memd.StatusRange:                {"invalid-input"},
	memd.StatusRollback:             {"dcp", "special-handling"},
	memd.StatusAccess:               {"support", "auth"},
	memd.StatusNotInitialized:       {"conn-state-invalidated"},
	memd.StatusEncryptionMissing:    {"support", "internal"},
	memd.StatusChecksum:             {"support", "internal"},
	memd.StatusRateLimitIngress:     {"rate-limit", "retry-later"},
	memd.StatusRateLimitEgress:      {"rate-limit", "retry-later"},
	memd.StatusRateLimitConnections: {"rate-limit", "conn-state-invalidated"},
	memd.StatusRateLimitCommands:    {"rate-limit", "retry-later"},
	memd.StatusBucketSizeLimit:      {"system-constraint"},
	memd.StatusResidentRatioLimit:   {"system-constraint"},
	memd.StatusDataSizeLimit:        {"system-constraint"},
	memd.StatusDiskSpaceLimit:       {"system-constraint"},
	memd.StatusBucketPaused:         {"system-constraint", "conn-state-invalidated"},
	memd.StatusCancelled:            {"retry-now"},
	memd.StatusUnknownFrame:         {"support"},
	memd.StatusUnknownCommand:       {"support"},
	memd.StatusOutOfMemory:          {"temp", "retry-later"},
	memd.StatusNotSupported:         {"support"},
	memd.StatusInternal:             {"internal", "conn-state-invalidated"},
	memd.StatusBusy:                 {"temp", "retry-now"},
	memd.StatusTemporaryFailure:     {"temp", "retry-now"},
	memd.StatusXattrInvalid:         {"invalid-input"},
	memd.StatusUnknownCollection:    {"item-only"},
	memd.StatusManifestRefused:      {"item-only", "internal"},
	memd.StatusUnknownScope:         {"item-only"},
	memd.StatusDurabilityInvalid:    {"invalid-input"},
	memd.StatusDurabilityImpossible: {"invalid-input"},
	memd.StatusSyncWriteInProgress:  {"retry-later", "item-only"},
	memd.StatusSyncWriteAmbiguous:   {"item-only"},
	memd.StatusSyncWriteReCommit:    {"retry-later", "item-only"},
	memd.StatusPathNotFound:         {"subdoc", "item-only"},
	memd.StatusPathMismatch:         {"subdoc", "item-only"},
	memd.StatusPathInvalid:          {"subdoc", "invalid-input"},
	memd.StatusPathTooBig:           {"subdoc", "invalid-input"},
	memd.StatusDocumentTooDeep:      {"subdoc", "item-only"},
	memd.StatusCannotInsert:         {"subdoc", "invalid-input"},
	memd.StatusNotJSON:              {"subdoc", "item-only"},
	memd.StatusNumberRange:          {"subdoc", "item-only"},
	memd.StatusDeltaInvalid:         {"subdoc", "invalid-input"},
	memd.StatusPathExists:           {"subdoc", "item-only"},
	memd.StatusValueTooDeep:         {"subdoc", "invalid-input"},
	memd.StatusBadCombination:       {"subdoc", "invalid-input"},
	memd.StatusMultiFailure:         {"subdoc", "special-handling"},
	memd.StatusSuccessDeleted:       {"subdoc", "special-handling", "success", "item-deleted"},
	memd.StatusMultiFailureDeleted:  {"subdoc", "special-handling", "item-deleted"},
}

// errorMapText is an error map as nodes send it.
type errorMapText struct {
	Version  int                           `json:"version"`
	Revision int                           `json:"revision"`
	Errors   map[string]memd.ErrorMapEntry `json:"errors"`
}

// SetErrorMapEntry gives a status an entry in the error map that nodes send from now on. Clients read the map when they connect.
// Without attributes the entry still names the status.
func (c *Cluster) SetErrorMapEntry(status Status, name, description string, attributes ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.errorEntries == nil {
		c.errorEntries = make(map[Status]memd.ErrorMapEntry)
	}
	c.errorEntries[status] = memd.ErrorMapEntry{Name: name, Description: description, Attributes: append([]string{}, attributes...)}
	c.errorMap = nil
}

// getErrorMap answers with the list of statuses, in the version that the client and the server both know.
func getErrorMap(x *exec) *Reply {
	c := x.cluster
	if len(x.p.Value) != 2 {
		return explained(memd.StatusInvalidArguments, "the version of the error map is a number of two bytes")
	}
	if c.errorMap == nil {
		m := errorMapText{Version: 1, Revision: 4, Errors: make(map[string]memd.ErrorMapEntry)}
		if c.profile.atLeast(7, 1) {
			m.Version, m.Revision = 2, 9
		}
		for status, attributes := range errorAttributes {
			m.Errors[hexOf(status)] = memd.ErrorMapEntry{Name: status.String(), Description: status.String(), Attributes: attributes}
		}
		for status, entry := range c.errorEntries {
			m.Errors[hexOf(status)] = entry
		}
		c.errorMap = marshal(m)
	}
	return &Reply{Value: c.errorMap, JSON: true}
}

func hexOf(status memd.Status) string { return strconv.FormatUint(uint64(status), 16) }
