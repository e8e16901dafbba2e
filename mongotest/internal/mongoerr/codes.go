package mongoerr

import (
	"slices"
	"strconv"
)

// Code is an error's number.
type Code = int32

// The codes by the real server's names, but for MissingField (IDLFailedToParse) and UnknownField (IDLUnknownField). Codes without a
// name, which the real server calls locations, are written where they are used.
const (
	BadValue                                Code = 2
	NoSuchKey                               Code = 4
	GraphContainsCycle                      Code = 5
	HostUnreachable                         Code = 6
	HostNotFound                            Code = 7
	FailedToParse                           Code = 9
	UserNotFound                            Code = 11
	UnsupportedFormat                       Code = 12
	Unauthorized                            Code = 13
	TypeMismatch                            Code = 14
	Overflow                                Code = 15
	InvalidLength                           Code = 16
	ProtocolError                           Code = 17
	AuthenticationFailed                    Code = 18
	IllegalOperation                        Code = 20
	InvalidBSON                             Code = 22
	AlreadyInitialized                      Code = 23
	LockTimeout                             Code = 24
	NamespaceNotFound                       Code = 26
	IndexNotFound                           Code = 27
	PathNotViable                           Code = 28
	RoleNotFound                            Code = 31
	InvalidRoleModification                 Code = 32
	CannotBackfillArray                     Code = 34
	ConflictingUpdateOperators              Code = 40
	CursorNotFound                          Code = 43
	NoMatchingDocument                      Code = 47
	NamespaceExists                         Code = 48
	MaxTimeMSExpired                        Code = 50
	DollarPrefixedFieldName                 Code = 52
	InvalidIDField                          Code = 53
	NotSingleValueField                     Code = 54
	InvalidDBRef                            Code = 55
	EmptyFieldName                          Code = 56
	CommandNotFound                         Code = 59
	StaleShardVersion                       Code = 63
	WriteConcernFailed                      Code = 64
	ImmutableField                          Code = 66
	CannotCreateIndex                       Code = 67
	IndexAlreadyExists                      Code = 68
	InvalidOptions                          Code = 72
	InvalidNamespace                        Code = 73
	NodeNotFound                            Code = 74
	NoReplicationEnabled                    Code = 76
	UnknownReplWriteConcern                 Code = 79
	IndexOptionsConflict                    Code = 85
	IndexKeySpecsConflict                   Code = 86
	NetworkTimeout                          Code = 89
	ShutdownInProgress                      Code = 91
	InvalidReplicaSetConfig                 Code = 93
	NotYetInitialized                       Code = 94
	NotSecondary                            Code = 95
	OperationFailed                         Code = 96
	UnsatisfiableWriteConcern               Code = 100
	NewReplicaSetConfigurationIncompatible  Code = 103
	NotExactValueField                      Code = 111
	WriteConflict                           Code = 112
	CommandNotSupported                     Code = 115
	ConflictingOperationInProgress          Code = 117
	DocumentValidationFailure               Code = 121
	NotAReplicaSet                          Code = 123
	CommandFailed                           Code = 125
	FailedToSatisfyReadPreference           Code = 133
	ReadConcernMajorityNotAvailableYet      Code = 134
	CappedPositionLost                      Code = 136
	JSInterpreterFailure                    Code = 139
	CursorInUse                             Code = 143
	ExceededMemoryLimit                     Code = 146
	StaleEpoch                              Code = 150
	DurationOverflow                        Code = 159
	MaxStalenessOutOfRange                  Code = 160
	IncompatibleCollationVersion            Code = 161
	ViewDepthLimitExceeded                  Code = 165
	CommandNotSupportedOnView               Code = 166
	OptionNotSupportedOnView                Code = 167
	InvalidPipelineOperator                 Code = 168
	CannotIndexParallelArrays               Code = 171
	QueryPlanKilled                         Code = 175
	AmbiguousIndexKeyPattern                Code = 181
	ClientMetadataAppNameTooLarge           Code = 184
	ClientMetadataDocumentTooLarge          Code = 185
	PrimarySteppedDown                      Code = 189
	InvalidIndexSpecificationOption         Code = 197
	CannotBuildIndexKeys                    Code = 201
	NetworkInterfaceExceededTimeLimit       Code = 202
	InvalidUUID                             Code = 207
	ClusterTimeFailsRateLimiter             Code = 209
	QueryFeatureNotAllowed                  Code = 224
	TransactionTooOld                       Code = 225
	RetryChangeStream                       Code = 234
	CursorKilled                            Code = 237
	NotImplemented                          Code = 238
	SnapshotTooOld                          Code = 239
	ConversionFailure                       Code = 241
	TransactionAborted                      Code = 244
	SnapshotUnavailable                     Code = 246
	NoSuchTransaction                       Code = 251
	TransactionCommitted                    Code = 256
	InvalidResumeToken                      Code = 260
	ExceededTimeLimit                       Code = 262
	OperationNotSupportedInTransaction      Code = 263
	PreparedTransactionInProgress           Code = 267
	UnsatisfiableCommitQuorum               Code = 278
	ChangeStreamFatalError                  Code = 280
	ChangeStreamHistoryLost                 Code = 286
	TransactionExceededLifetimeLimitSeconds Code = 290
	NoQueryExecutionPlans                   Code = 291
	ObjectIsBusy                            Code = 314
	APIVersionError                         Code = 322
	APIStrictError                          Code = 323
	APIDeprecationError                     Code = 324
	MechanismUnavailable                    Code = 334
	UnsupportedOpQueryCommand               Code = 352
	LoadBalancerSupportMismatch             Code = 354
	CannotConvertIndexToUnique              Code = 359
	CollectionUUIDMismatch                  Code = 361
	ReauthenticationRequired                Code = 391
	IngressRequestRateLimitExceeded         Code = 462
	GeoKeyExtractionFailed                  Code = 510
	SocketException                         Code = 9001
	NotWritablePrimary                      Code = 10107
	BSONObjectTooLarge                      Code = 10334
	DuplicateKey                            Code = 11000
	InterruptedAtShutdown                   Code = 11600
	Interrupted                             Code = 11601
	InterruptedDueToReplStateChange         Code = 11602
	MergeStageNoMatchingDocument            Code = 13113
	DatabaseDifferCase                      Code = 13297
	StaleConfig                             Code = 13388
	NotPrimaryNoSecondaryOk                 Code = 13435
	NotPrimaryOrSecondary                   Code = 13436
	SearchNotEnabled                        Code = 31082
	NotOneStage                             Code = 40323
	UnknownStage                            Code = 40324
	MissingField                            Code = 40414
	UnknownField                            Code = 40415
)

// Class is a set of the things that clients do about an error.
type Class uint8

const (
	// RetryableWrite gets the label RetryableWriteError if the command had a transaction number.
	RetryableWrite Class = 1 << iota
	// Transient gets the label TransientTransactionError in a transaction, as a RetryableWrite does.
	Transient
	// Resumable gets the label ResumableChangeStreamError in a change stream, as a RetryableWrite does.
	Resumable
	// StateChange says that the client's picture of the member is out of date: such an error carries topologyVersion.
	StateChange
)

// row is a code's line in the table.
type row struct {
	code Code
	name string
	kind Class
	old  string // the name before "not master" became "not primary", where it was another one
}

// table has the codes with a name in ascending order. It is never written to.
var table = [...]row{
	{code: BadValue, name: "BadValue"},
	{code: NoSuchKey, name: "NoSuchKey"},
	{code: GraphContainsCycle, name: "GraphContainsCycle"},
	{code: HostUnreachable, name: "HostUnreachable", kind: RetryableWrite},
	{code: HostNotFound, name: "HostNotFound", kind: RetryableWrite},
	{code: FailedToParse, name: "FailedToParse"},
	{code: UserNotFound, name: "UserNotFound"},
	{code: UnsupportedFormat, name: "UnsupportedFormat"},
	{code: Unauthorized, name: "Unauthorized"},
	{code: TypeMismatch, name: "TypeMismatch"},
	{code: Overflow, name: "Overflow"},
	{code: InvalidLength, name: "InvalidLength"},
	{code: ProtocolError, name: "ProtocolError"},
	{code: AuthenticationFailed, name: "AuthenticationFailed"},
	{code: IllegalOperation, name: "IllegalOperation"},
	{code: InvalidBSON, name: "InvalidBSON"},
	{code: AlreadyInitialized, name: "AlreadyInitialized"},
	{code: LockTimeout, name: "LockTimeout", kind: Transient},
	{code: NamespaceNotFound, name: "NamespaceNotFound"},
	{code: IndexNotFound, name: "IndexNotFound"},
	{code: PathNotViable, name: "PathNotViable"},
	{code: RoleNotFound, name: "RoleNotFound"},
	{code: InvalidRoleModification, name: "InvalidRoleModification"},
	{code: CannotBackfillArray, name: "CannotBackfillArray"},
	{code: ConflictingUpdateOperators, name: "ConflictingUpdateOperators"},
	{code: CursorNotFound, name: "CursorNotFound"},
	{code: NoMatchingDocument, name: "NoMatchingDocument"},
	{code: NamespaceExists, name: "NamespaceExists"},
	{code: MaxTimeMSExpired, name: "MaxTimeMSExpired"},
	{code: DollarPrefixedFieldName, name: "DollarPrefixedFieldName"},
	{code: InvalidIDField, name: "InvalidIdField"},
	{code: NotSingleValueField, name: "NotSingleValueField"},
	{code: InvalidDBRef, name: "InvalidDBRef"},
	{code: EmptyFieldName, name: "EmptyFieldName"},
	{code: CommandNotFound, name: "CommandNotFound"},
	{code: StaleShardVersion, name: "StaleShardVersion", kind: Resumable},
	{code: WriteConcernFailed, name: "WriteConcernFailed"},
	{code: ImmutableField, name: "ImmutableField"},
	{code: CannotCreateIndex, name: "CannotCreateIndex"},
	{code: IndexAlreadyExists, name: "IndexAlreadyExists"},
	{code: InvalidOptions, name: "InvalidOptions"},
	{code: InvalidNamespace, name: "InvalidNamespace"},
	{code: NodeNotFound, name: "NodeNotFound"},
	{code: NoReplicationEnabled, name: "NoReplicationEnabled"},
	{code: UnknownReplWriteConcern, name: "UnknownReplWriteConcern"},
	{code: IndexOptionsConflict, name: "IndexOptionsConflict"},
	{code: IndexKeySpecsConflict, name: "IndexKeySpecsConflict"},
	{code: NetworkTimeout, name: "NetworkTimeout", kind: RetryableWrite},
	{code: ShutdownInProgress, name: "ShutdownInProgress", kind: RetryableWrite | StateChange},
	{code: InvalidReplicaSetConfig, name: "InvalidReplicaSetConfig"},
	{code: NotYetInitialized, name: "NotYetInitialized"},
	{code: NotSecondary, name: "NotSecondary"},
	{code: OperationFailed, name: "OperationFailed"},
	{code: UnsatisfiableWriteConcern, name: "UnsatisfiableWriteConcern"},
	{code: NewReplicaSetConfigurationIncompatible, name: "NewReplicaSetConfigurationIncompatible"},
	{code: NotExactValueField, name: "NotExactValueField"},
	{code: WriteConflict, name: "WriteConflict", kind: Transient},
	{code: CommandNotSupported, name: "CommandNotSupported"},
	{code: ConflictingOperationInProgress, name: "ConflictingOperationInProgress"},
	{code: DocumentValidationFailure, name: "DocumentValidationFailure"},
	{code: NotAReplicaSet, name: "NotAReplicaSet"},
	{code: CommandFailed, name: "CommandFailed"},
	{code: FailedToSatisfyReadPreference, name: "FailedToSatisfyReadPreference", kind: Resumable},
	{code: ReadConcernMajorityNotAvailableYet, name: "ReadConcernMajorityNotAvailableYet", kind: RetryableWrite},
	{code: CappedPositionLost, name: "CappedPositionLost"},
	{code: JSInterpreterFailure, name: "JSInterpreterFailure"},
	{code: CursorInUse, name: "CursorInUse"},
	{code: ExceededMemoryLimit, name: "ExceededMemoryLimit"},
	{code: StaleEpoch, name: "StaleEpoch", kind: Resumable},
	{code: DurationOverflow, name: "DurationOverflow"},
	{code: MaxStalenessOutOfRange, name: "MaxStalenessOutOfRange"},
	{code: IncompatibleCollationVersion, name: "IncompatibleCollationVersion"},
	{code: ViewDepthLimitExceeded, name: "ViewDepthLimitExceeded"},
	{code: CommandNotSupportedOnView, name: "CommandNotSupportedOnView"},
	{code: OptionNotSupportedOnView, name: "OptionNotSupportedOnView"},
	{code: InvalidPipelineOperator, name: "InvalidPipelineOperator"},
	{code: CannotIndexParallelArrays, name: "CannotIndexParallelArrays"},
	{code: QueryPlanKilled, name: "QueryPlanKilled"},
	{code: AmbiguousIndexKeyPattern, name: "AmbiguousIndexKeyPattern"},
	{code: ClientMetadataAppNameTooLarge, name: "ClientMetadataAppNameTooLarge"},
	{code: ClientMetadataDocumentTooLarge, name: "ClientMetadataDocumentTooLarge"},
	{code: PrimarySteppedDown, name: "PrimarySteppedDown", kind: RetryableWrite | StateChange},
	{code: InvalidIndexSpecificationOption, name: "InvalidIndexSpecificationOption"},
	{code: CannotBuildIndexKeys, name: "CannotBuildIndexKeys"},
	{code: NetworkInterfaceExceededTimeLimit, name: "NetworkInterfaceExceededTimeLimit"},
	{code: InvalidUUID, name: "InvalidUUID"},
	{code: ClusterTimeFailsRateLimiter, name: "ClusterTimeFailsRateLimiter"},
	{code: QueryFeatureNotAllowed, name: "QueryFeatureNotAllowed"},
	{code: TransactionTooOld, name: "TransactionTooOld"},
	{code: RetryChangeStream, name: "RetryChangeStream", kind: Resumable},
	{code: CursorKilled, name: "CursorKilled"},
	{code: NotImplemented, name: "NotImplemented"},
	{code: SnapshotTooOld, name: "SnapshotTooOld", kind: Transient},
	{code: ConversionFailure, name: "ConversionFailure"},
	{code: TransactionAborted, name: "TransactionAborted"},
	{code: SnapshotUnavailable, name: "SnapshotUnavailable", kind: Transient},
	{code: NoSuchTransaction, name: "NoSuchTransaction", kind: Transient},
	{code: TransactionCommitted, name: "TransactionCommitted"},
	{code: InvalidResumeToken, name: "InvalidResumeToken"},
	{code: ExceededTimeLimit, name: "ExceededTimeLimit", kind: RetryableWrite},
	{code: OperationNotSupportedInTransaction, name: "OperationNotSupportedInTransaction"},
	{code: PreparedTransactionInProgress, name: "PreparedTransactionInProgress", kind: Transient},
	{code: UnsatisfiableCommitQuorum, name: "UnsatisfiableCommitQuorum"},
	{code: ChangeStreamFatalError, name: "ChangeStreamFatalError"},
	{code: ChangeStreamHistoryLost, name: "ChangeStreamHistoryLost"},
	{code: TransactionExceededLifetimeLimitSeconds, name: "TransactionExceededLifetimeLimitSeconds"},
	{code: NoQueryExecutionPlans, name: "NoQueryExecutionPlans"},
	{code: ObjectIsBusy, name: "ObjectIsBusy"},
	{code: APIVersionError, name: "APIVersionError"},
	{code: APIStrictError, name: "APIStrictError"},
	{code: APIDeprecationError, name: "APIDeprecationError"},
	{code: MechanismUnavailable, name: "MechanismUnavailable"},
	{code: UnsupportedOpQueryCommand, name: "UnsupportedOpQueryCommand"},
	{code: LoadBalancerSupportMismatch, name: "LoadBalancerSupportMismatch"},
	{code: CannotConvertIndexToUnique, name: "CannotConvertIndexToUnique"},
	{code: CollectionUUIDMismatch, name: "CollectionUUIDMismatch"},
	{code: ReauthenticationRequired, name: "ReauthenticationRequired"},
	{code: IngressRequestRateLimitExceeded, name: "IngressRequestRateLimitExceeded"},
	{code: GeoKeyExtractionFailed, name: "GeoKeyExtractionFailed"},
	{code: SocketException, name: "SocketException", kind: RetryableWrite},
	{code: NotWritablePrimary, name: "NotWritablePrimary", kind: RetryableWrite | StateChange, old: "NotMaster"},
	{code: BSONObjectTooLarge, name: "BSONObjectTooLarge"},
	{code: DuplicateKey, name: "DuplicateKey"},
	{code: InterruptedAtShutdown, name: "InterruptedAtShutdown", kind: RetryableWrite | StateChange},
	{code: Interrupted, name: "Interrupted"},
	{code: InterruptedDueToReplStateChange, name: "InterruptedDueToReplStateChange", kind: RetryableWrite | StateChange},
	{code: MergeStageNoMatchingDocument, name: "MergeStageNoMatchingDocument"},
	{code: DatabaseDifferCase, name: "DatabaseDifferCase"},
	{code: StaleConfig, name: "StaleConfig", kind: Resumable},
	{code: NotPrimaryNoSecondaryOk, name: "NotPrimaryNoSecondaryOk", kind: RetryableWrite | StateChange, old: "NotMasterNoSlaveOk"},
	{code: NotPrimaryOrSecondary, name: "NotPrimaryOrSecondary", kind: RetryableWrite | StateChange, old: "NotMasterOrSecondary"},
	{code: SearchNotEnabled, name: "SearchNotEnabled"},
	{code: MissingField, name: "IDLFailedToParse"},
	{code: UnknownField, name: "IDLUnknownField"},
}

// find returns a code's line, one without a name if it has none.
func find(code Code) row {
	i, found := slices.BinarySearchFunc(table[:], code, func(r row, code Code) int { return int(r.code) - int(code) })
	if !found {
		return row{code: code}
	}
	return table[i]
}

// Name returns the name that belongs to a code: "LocationN" if it has none.
func Name(code Code) string {
	if r := find(code); r.name != "" {
		return r.name
	}
	return "Location" + strconv.Itoa(int(code))
}

// OldName returns the name that a code had while a primary was called a master, "" if that was the same.
func OldName(code Code) string { return find(code).old }

// Is reports whether a code is of a kind.
func Is(code Code, kind Class) bool { return find(code).kind&kind != 0 }
