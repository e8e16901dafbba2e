package mongotest

// Code is a MongoDB error code.
type Code = int32

// The error codes that this server answers, by the real server's names.
const (
	codeBadValue                        Code = 2
	codeHostUnreachable                 Code = 6
	codeHostNotFound                    Code = 7
	codeFailedToParse                   Code = 9
	codeUserNotFound                    Code = 11
	codeUnauthorized                    Code = 13
	codeLockTimeout                     Code = 24
	codeTypeMismatch                    Code = 14
	codeOverflow                        Code = 15
	codeProtocolError                   Code = 17
	codeAuthenticationFailed            Code = 18
	codeIllegalOperation                Code = 20
	codeNamespaceNotFound               Code = 26
	codePathNotViable                   Code = 28
	codeConflictingUpdateOperators      Code = 40
	codeCursorNotFound                  Code = 43
	codeNamespaceExists                 Code = 48
	codeMaxTimeMSExpired                Code = 50
	codeDollarPrefixedFieldName         Code = 52
	codeInvalidIDField                  Code = 53
	codeEmptyFieldName                  Code = 56
	codeCommandNotFound                 Code = 59
	codeWriteConcernFailed              Code = 64
	codeWriteConflict                   Code = 112
	codeConflictingOperation            Code = 117
	codeNotAReplicaSet                  Code = 123
	codeCommandFailed                   Code = 125
	codeClusterTimeFailsRateLimiter     Code = 209
	codeSnapshotTooOld                  Code = 239
	codeSnapshotUnavailable             Code = 246
	codeTransactionCommitted            Code = 256
	codeImmutableField                  Code = 66
	codeInvalidOptions                  Code = 72
	codeInvalidNamespace                Code = 73
	codeUnknownReplWriteConcern         Code = 79
	codeNetworkTimeout                  Code = 89
	codeShutdownInProgress              Code = 91
	codeOperationFailed                 Code = 96
	codeUnsatisfiableWriteConcern       Code = 100
	codePrimarySteppedDown              Code = 189
	codeInvalidUUID                     Code = 207
	codeQueryFeatureNotAllowed          Code = 224
	codeTransactionTooOld               Code = 225
	codeNotImplemented                  Code = 238
	codeNoSuchTransaction               Code = 251
	codeExceededTimeLimit               Code = 262
	codeNoQueryExecutionPlans           Code = 291
	codeAPIStrictError                  Code = 323
	codeGraphContainsCycle              Code = 5
	codeViewDepthLimitExceeded          Code = 165
	codeCommandNotSupportedOnView       Code = 166
	codeOptionNotSupportedOnView        Code = 167
	codeInvalidPipelineOperator         Code = 168
	codeOperationNotSupportedInTransact Code = 263
	codeMechanismUnavailable            Code = 334
	codeUnsupportedOpQueryCommand       Code = 352
	codeSocketException                 Code = 9001
	codeNotWritablePrimary              Code = 10107
	codeBSONObjectTooLarge              Code = 10334
	codeDuplicateKey                    Code = 11000
	codeInterruptedAtShutdown           Code = 11600
	codeInterruptedDueToReplStateChange Code = 11602
	codeNotPrimaryNoSecondaryOk         Code = 13435
	codeNotPrimaryOrSecondary           Code = 13436
	codeCannotConvertIndexToUnique      Code = 359
	codeSearchNotEnabled                Code = 31082
	codeUnknownField                    Code = 40415
	codeMissingField                    Code = 40414
	codeIndexAlreadyExists              Code = 68
	codeIndexOptionsConflict            Code = 85
	codeIndexKeySpecsConflict           Code = 86
	codeCannotIndexParallelArrays       Code = 171
	codeAmbiguousIndexKeyPattern        Code = 181
	codeInvalidIndexSpecificationOption Code = 197
	codeUnsatisfiableCommitQuorum       Code = 278
	codeIndexNotFound                   Code = 27
	codeCannotCreateIndex               Code = 67
	codeDocumentValidationFailure       Code = 121
	codeInvalidLength                   Code = 16
	codeInvalidReplicaSetConfig         Code = 93
	codeNotSecondary                    Code = 95
	codeFailedToSatisfyReadPreference   Code = 133
	codeReadConcernMajorityNotAvailable Code = 134
	codeNotYetInitialized               Code = 94
	codeAlreadyInitialized              Code = 23
	codeNodeNotFound                    Code = 74
	codeNoReplicationEnabled            Code = 76
	codeNewConfigIncompatible           Code = 103
	codeNoMatchingDocument              Code = 47
	codeCappedPositionLost              Code = 136
	codeCursorInUse                     Code = 143
	codeQueryPlanKilled                 Code = 175
	codeCursorKilled                    Code = 237
	codeInvalidResumeToken              Code = 260
	codeChangeStreamFatalError          Code = 280
	codeChangeStreamHistoryLost         Code = 286
)

// codeNames are the names that belong to codes. It is never written to. A code that is not here is named "LocationN".
var codeNames = map[Code]string{
	codeBadValue:                        "BadValue",
	4:                                   "NoSuchKey",
	codeOverflow:                        "Overflow",
	codeInvalidLength:                   "InvalidLength",
	34:                                  "CannotBackfillArray",
	54:                                  "NotSingleValueField",
	111:                                 "NotExactValueField",
	codeQueryFeatureNotAllowed:          "QueryFeatureNotAllowed",
	codeMissingField:                    "IDLFailedToParse",
	codeUnknownField:                    "IDLUnknownField",
	codeNoReplicationEnabled:            "NoReplicationEnabled",
	codeNotYetInitialized:               "NotYetInitialized",
	codeAlreadyInitialized:              "AlreadyInitialized",
	codeNodeNotFound:                    "NodeNotFound",
	codeHostUnreachable:                 "HostUnreachable",
	codeHostNotFound:                    "HostNotFound",
	codeFailedToParse:                   "FailedToParse",
	codeUserNotFound:                    "UserNotFound",
	codeUnauthorized:                    "Unauthorized",
	codeTypeMismatch:                    "TypeMismatch",
	codeProtocolError:                   "ProtocolError",
	codeAuthenticationFailed:            "AuthenticationFailed",
	codeIllegalOperation:                "IllegalOperation",
	codeLockTimeout:                     "LockTimeout",
	codeNamespaceNotFound:               "NamespaceNotFound",
	codeIndexNotFound:                   "IndexNotFound",
	codePathNotViable:                   "PathNotViable",
	codeConflictingUpdateOperators:      "ConflictingUpdateOperators",
	codeCursorNotFound:                  "CursorNotFound",
	codeNamespaceExists:                 "NamespaceExists",
	codeMaxTimeMSExpired:                "MaxTimeMSExpired",
	codeDollarPrefixedFieldName:         "DollarPrefixedFieldName",
	codeInvalidIDField:                  "InvalidIdField",
	55:                                  "InvalidDBRef",
	codeEmptyFieldName:                  "EmptyFieldName",
	codeCommandNotFound:                 "CommandNotFound",
	63:                                  "StaleShardVersion",
	codeWriteConcernFailed:              "WriteConcernFailed",
	codeImmutableField:                  "ImmutableField",
	codeCannotCreateIndex:               "CannotCreateIndex",
	codeInvalidOptions:                  "InvalidOptions",
	codeInvalidNamespace:                "InvalidNamespace",
	codeUnknownReplWriteConcern:         "UnknownReplWriteConcern",
	codeNetworkTimeout:                  "NetworkTimeout",
	codeShutdownInProgress:              "ShutdownInProgress",
	codeUnsatisfiableWriteConcern:       "UnsatisfiableWriteConcern",
	codeOperationFailed:                 "OperationFailed",
	codeWriteConflict:                   "WriteConflict",
	codeConflictingOperation:            "ConflictingOperationInProgress",
	codeNotAReplicaSet:                  "NotAReplicaSet",
	codeCommandFailed:                   "CommandFailed",
	codeClusterTimeFailsRateLimiter:     "ClusterTimeFailsRateLimiter",
	codeSnapshotTooOld:                  "SnapshotTooOld",
	codeSnapshotUnavailable:             "SnapshotUnavailable",
	146:                                 "ExceededMemoryLimit",
	159:                                 "DurationOverflow",
	121:                                 "DocumentValidationFailure",
	codeFailedToSatisfyReadPreference:   "FailedToSatisfyReadPreference",
	codeReadConcernMajorityNotAvailable: "ReadConcernMajorityNotAvailableYet",
	codeNoMatchingDocument:              "NoMatchingDocument",
	codeCappedPositionLost:              "CappedPositionLost",
	codeCursorInUse:                     "CursorInUse",
	150:                                 "StaleEpoch",
	160:                                 "MaxStalenessOutOfRange",
	codeAPIStrictError:                  "APIStrictError",
	codeGraphContainsCycle:              "GraphContainsCycle",
	codeViewDepthLimitExceeded:          "ViewDepthLimitExceeded",
	codeCommandNotSupportedOnView:       "CommandNotSupportedOnView",
	codeOptionNotSupportedOnView:        "OptionNotSupportedOnView",
	codeInvalidPipelineOperator:         "InvalidPipelineOperator",
	codeQueryPlanKilled:                 "QueryPlanKilled",
	codePrimarySteppedDown:              "PrimarySteppedDown",
	202:                                 "NetworkInterfaceExceededTimeLimit",
	codeInvalidUUID:                     "InvalidUUID",
	codeTransactionTooOld:               "TransactionTooOld",
	234:                                 "RetryChangeStream",
	codeCursorKilled:                    "CursorKilled",
	codeNotImplemented:                  "NotImplemented",
	241:                                 "ConversionFailure",
	244:                                 "TransactionAborted",
	codeNoSuchTransaction:               "NoSuchTransaction",
	codeTransactionCommitted:            "TransactionCommitted",
	codeExceededTimeLimit:               "ExceededTimeLimit",
	codeOperationNotSupportedInTransact: "OperationNotSupportedInTransaction",
	codeInvalidResumeToken:              "InvalidResumeToken",
	codeChangeStreamFatalError:          "ChangeStreamFatalError",
	codeChangeStreamHistoryLost:         "ChangeStreamHistoryLost",
	290:                                 "TransactionExceededLifetimeLimitSeconds",
	codeNoQueryExecutionPlans:           "NoQueryExecutionPlans",
	314:                                 "ObjectIsBusy",
	codeMechanismUnavailable:            "MechanismUnavailable",
	codeUnsupportedOpQueryCommand:       "UnsupportedOpQueryCommand",
	391:                                 "ReauthenticationRequired",
	462:                                 "IngressRequestRateLimitExceeded",
	codeSocketException:                 "SocketException",
	codeCannotConvertIndexToUnique:      "CannotConvertIndexToUnique",
	codeSearchNotEnabled:                "SearchNotEnabled",
	codeNotWritablePrimary:              "NotWritablePrimary",
	codeBSONObjectTooLarge:              "BSONObjectTooLarge",
	codeDuplicateKey:                    "DuplicateKey",
	codeInterruptedAtShutdown:           "InterruptedAtShutdown",
	11601:                               "Interrupted",
	codeInterruptedDueToReplStateChange: "InterruptedDueToReplStateChange",
	13113:                               "MergeStageNoMatchingDocument",
	13388:                               "StaleConfig",
	codeNotPrimaryNoSecondaryOk:         "NotPrimaryNoSecondaryOk",
	codeInvalidReplicaSetConfig:         "InvalidReplicaSetConfig",
	codeNotSecondary:                    "NotSecondary",
	codeNewConfigIncompatible:           "NewReplicaSetConfigurationIncompatible",
	codeNotPrimaryOrSecondary:           "NotPrimaryOrSecondary",
	codeUnsatisfiableCommitQuorum:       "UnsatisfiableCommitQuorum",
	codeInvalidIndexSpecificationOption: "InvalidIndexSpecificationOption",
	codeAmbiguousIndexKeyPattern:        "AmbiguousIndexKeyPattern",
	codeCannotIndexParallelArrays:       "CannotIndexParallelArrays",
	codeIndexKeySpecsConflict:           "IndexKeySpecsConflict",
	codeIndexAlreadyExists:              "IndexAlreadyExists",
	codeIndexOptionsConflict:            "IndexOptionsConflict",
	161:                                 "IncompatibleCollationVersion",
}

// retryableWriteCodes get the RetryableWriteError label when the command carried a transaction number.
var retryableWriteCodes = map[Code]bool{
	codeHostUnreachable: true, codeHostNotFound: true, codeNetworkTimeout: true, codeShutdownInProgress: true,
	codePrimarySteppedDown: true, codeExceededTimeLimit: true, codeSocketException: true, codeNotWritablePrimary: true,
	codeInterruptedAtShutdown: true, codeInterruptedDueToReplStateChange: true, codeNotPrimaryNoSecondaryOk: true,
	codeNotPrimaryOrSecondary: true, codeReadConcernMajorityNotAvailable: true,
}

// transientCodes get the TransientTransactionError label in a transaction, as those above do.
var transientCodes = map[Code]bool{
	codeLockTimeout: true, codeWriteConflict: true, codeSnapshotTooOld: true, codeSnapshotUnavailable: true,
	codeNoSuchTransaction: true,
	267:                   true, // PreparedTransactionInProgress
}

// resumableCodes get the ResumableChangeStreamError label in a change stream, as those of retryable writes do.
var resumableCodes = map[Code]bool{
	63:    true, // StaleShardVersion
	133:   true, // FailedToSatisfyReadPreference
	150:   true, // StaleEpoch
	234:   true, // RetryChangeStream
	13388: true, // StaleConfig
}

// stateChangeCodes tell a client that its picture of the member is out of date; such an error carries topologyVersion.
var stateChangeCodes = map[Code]bool{
	codeShutdownInProgress: true, codePrimarySteppedDown: true, codeNotWritablePrimary: true, codeInterruptedAtShutdown: true,
	codeInterruptedDueToReplStateChange: true, codeNotPrimaryNoSecondaryOk: true, codeNotPrimaryOrSecondary: true,
}
