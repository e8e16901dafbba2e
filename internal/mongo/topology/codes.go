package topology

import "strings"

// The error codes of state change errors: SDAM, "not writable primary" and "node is recovering".
const (
	codeShutdownInProgress              = 91
	codePrimarySteppedDown              = 189
	codeLegacyNotPrimary                = 10058
	codeNotWritablePrimary              = 10107
	codeInterruptedAtShutdown           = 11600
	codeInterruptedDueToReplStateChange = 11602
	codeNotPrimaryNoSecondaryOk         = 13435
	codeNotPrimaryOrSecondary           = 13436
)

// IsNotPrimary reports whether an error reply, or a write concern error, means "not writable primary". The message is
// used only if there is no code.
func IsNotPrimary(code int32, msg string, hasCode bool) bool {
	if !hasCode {
		return strings.Contains(msg, "not master") && !IsRecovering(code, msg, hasCode)
	}
	switch code {
	case codeNotWritablePrimary, codeNotPrimaryNoSecondaryOk, codeLegacyNotPrimary:
		return true
	}
	return false
}

// IsRecovering reports whether an error reply, or a write concern error, means "node is recovering", which includes
// shutting down. The message is used only if there is no code.
func IsRecovering(code int32, msg string, hasCode bool) bool {
	if !hasCode {
		return strings.Contains(msg, "not master or secondary") || strings.Contains(msg, "node is recovering")
	}
	switch code {
	case codeInterruptedDueToReplStateChange, codeNotPrimaryOrSecondary, codePrimarySteppedDown:
		return true
	}
	return IsShutdown(code)
}

// IsShutdown reports whether the code means "node is shutting down". IsRecovering is true for these codes too.
func IsShutdown(code int32) bool {
	return code == codeInterruptedAtShutdown || code == codeShutdownInProgress
}
