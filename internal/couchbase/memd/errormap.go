package memd

import (
	"encoding/json"
	"slices"
	"strconv"
)

// ErrorMap is a server's list of its statuses.
type ErrorMap struct {
	Version  int
	Revision int
	entries  map[Status]ErrorMapEntry
}

// ErrorMapEntry is a server's description of a status.
type ErrorMapEntry struct {
	Name        string   `json:"name"`
	Description string   `json:"desc"`
	Attributes  []string `json:"attrs"`
}

// The attributes of an entry that a client acts on. It ignores the others.
const (
	AttributeRetryNow        = "retry-now"
	AttributeRetryLater      = "retry-later"
	AttributeAutoRetry       = "auto-retry"
	AttributeFetchConfig     = "fetch-config"
	AttributeConnInvalidated = "conn-state-invalidated"
	AttributeSpecialHandling = "special-handling"
)

// ParseErrorMap reads the value of a reply to GET_ERROR_MAP. The result does not alias it.
func ParseErrorMap(value []byte) (*ErrorMap, error) {
	var text struct {
		Version  int                      `json:"version"`
		Revision int                      `json:"revision"`
		Errors   map[string]ErrorMapEntry `json:"errors"`
	}
	if err := json.Unmarshal(value, &text); err != nil {
		return nil, malformed("an error map: %v", err)
	}
	m := &ErrorMap{Version: text.Version, Revision: text.Revision, entries: make(map[Status]ErrorMapEntry, len(text.Errors))}
	for code, entry := range text.Errors {
		status, err := strconv.ParseUint(code, 16, 16)
		if err != nil {
			return nil, malformed("an error map with the status %q", code)
		}
		m.entries[Status(status)] = entry
	}
	return m, nil
}

// Entry returns the description of a status. It reports false if the map has none; a nil map has none.
func (m *ErrorMap) Entry(s Status) (ErrorMapEntry, bool) {
	if m == nil {
		return ErrorMapEntry{}, false
	}
	entry, ok := m.entries[s]
	return entry, ok
}

// Has reports whether the entry has an attribute.
func (e ErrorMapEntry) Has(attribute string) bool { return slices.Contains(e.Attributes, attribute) }

// Retryable reports whether the server says that the command may be sent again. RFC 0049 ignores the waits of the map.
func (e ErrorMapEntry) Retryable() bool {
	return e.Has(AttributeRetryNow) || e.Has(AttributeRetryLater) || e.Has(AttributeAutoRetry)
}

// ErrorInfo is a server's explanation in the value of an error reply.
type ErrorInfo struct {
	Context string `json:"context"`
	Ref     string `json:"ref"`
}

// ParseErrorInfo reads the explanation in the value of an error reply. It returns an empty one if there is none.
func ParseErrorInfo(p *Packet) ErrorInfo {
	var text struct {
		Error ErrorInfo `json:"error"`
	}
	if p.DataType&DataJSON != 0 && json.Unmarshal(p.Value, &text) != nil {
		return ErrorInfo{}
	}
	return text.Error
}

// ManifestUID returns the version of the server's collections in the reply to a command in an unknown collection or scope. It
// reports false if there is none.
func ManifestUID(p *Packet) (uint64, bool) {
	var text struct {
		UID string `json:"manifest_uid"`
	}
	if json.Unmarshal(p.Value, &text) != nil {
		return 0, false
	}
	uid, err := strconv.ParseUint(text.UID, 16, 64)
	return uid, err == nil
}
