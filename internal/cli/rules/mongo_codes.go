package rules

import "slices"

// MongoCode is an error code of MongoDB that the rules name, or that applications meet often.
type MongoCode struct {
	Code int32
	Name string
	// Retryable means that reads are retried after it, and that a server from 4.4 on labels a retryable write's reply with it.
	Retryable bool
}

var mongoCodes = []MongoCode{
	{6, "HostUnreachable", true},
	{7, "HostNotFound", true},
	{89, "NetworkTimeout", true},
	{91, "ShutdownInProgress", true},
	{134, "ReadConcernMajorityNotAvailableYet", true},
	{189, "PrimarySteppedDown", true},
	{262, "ExceededTimeLimit", true},
	{9001, "SocketException", true},
	{10107, "NotWritablePrimary", true},
	{11600, "InterruptedAtShutdown", true},
	{11602, "InterruptedDueToReplStateChange", true},
	{13435, "NotPrimaryNoSecondaryOk", true},
	{13436, "NotPrimaryOrSecondary", true},
	{2, "BadValue", false},
	{8, "UnknownError", false},
	{13, "Unauthorized", false},
	{20, "IllegalOperation", false},
	{24, "LockTimeout", false},
	{43, "CursorNotFound", false},
	{50, "MaxTimeMSExpired", false},
	{59, "CommandNotFound", false},
	{63, "StaleShardVersion", false},
	{64, "WriteConcernTimeout", false},
	{79, "UnknownReplWriteConcern", false},
	{100, "UnsatisfiableWriteConcern", false},
	{112, "WriteConflict", false},
	{121, "DocumentValidationFailure", false},
	{133, "FailedToSatisfyReadPreference", false},
	{246, "SnapshotUnavailable", false},
	{251, "NoSuchTransaction", false},
	{391, "ReauthenticationRequired", false},
	{462, "IngressRequestRateLimitExceeded", false},
	{11000, "DuplicateKey", false},
	{11601, "Interrupted", false},
	{13388, "StaleConfig", false},
}

// MongoCodes returns the codes that have a name here.
func MongoCodes() []MongoCode { return slices.Clone(mongoCodes) }

func retryableCode(code int32) bool {
	return slices.ContainsFunc(mongoCodes, func(c MongoCode) bool { return c.Code == code && c.Retryable })
}

// readOnlyCode is retryable, but a client adds no label to it for a write.
const readOnlyCode = 134
