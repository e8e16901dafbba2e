package compare

// The reasons of odd inputs.
const (
	oddRefused   = "gocb sends it, and the server refuses it; ours refuses it before anything is sent"
	oddNegative  = "gocb sends a negative expiry as one second; ours refuses it"
	oddLate      = "gocb sends the low 32 bits of an expiry after the year 2106; ours refuses it"
	oddCopies    = "gocb writes, and then says that there are too few copies; ours says so before it writes"
	oddCancelled = "ours also matches the context's error"
	oddExpired   = "gocb calls an expired context a cancellation; ours calls it a timeout"
	oddPart      = "gocb's error of a part has a type of gocbcore; ours is a KeyValueError"
	oddApplied   = "gocb calls the timeout of an operation ambiguous of which nothing was applied; by RFC 0058 it is unambiguous, and it also matches its cause"
	oddLost      = "gocb's error is the network's own; by RFC 0058 the request is cancelled, and the network's error is its cause"
	oddInner     = "gocb's InnerError is sometimes the sentinel itself; ours always wraps it: use `errors.Is`"
	oddNotJSON   = "ours also matches ErrDocumentNotJSON, which means the same"
	oddContent   = "gocb decodes into what cannot be changed without an error; ours reports it"
)

// The reasons of logins.
const (
	loginMechanism = "gocb v2.12 sends a password by PLAIN without TLS, where the network sees it, and by SCRAM with TLS; ours does it the other way round"
	loginRefused   = "ours says that the credential is refused; gocb's error does not say it, or is a timeout"
	loginPointer   = "gocb logs in to nodes with a JWTAuthenticator only if it is a pointer; ours takes the value too"
	loginKind      = "gocb checks no authenticator; ours refuses one that needs TLS and, as a change, one of another kind, as RFC 0048 says, and one that has nothing, or a token that no header can carry"
)

// differences has the cases with different outcomes, with the reason. A name stands for all cases that begin with it.
var differences = map[string]string{
	"JSON encodes broken raw message":              "gocb sends a json.RawMessage that is not JSON; ours refuses it",
	"legacy encodes broken raw message":            "gocb sends a json.RawMessage that is not JSON; ours refuses it",
	"JSON of full AnalyticsError":                  "gocb leaves the body of the reply out",
	"JSON of full QueryError":                      "gocb leaves the body of the reply out",
	"JSON of full ViewError":                       "gocb leaves the body of the reply out",
	"diagnostics report":                           "gocb reports the greatest number where there was no activity; ours leaves the time out",
	"reason 18":                                    "gocb calls the reason NOT_READY, ours BUCKET_OPEN_IN_PROGRESS",
	"sentinel ErrAuthenticationFailure":            "gocb's text guesses at the bucket",
	"sentinel ErrValueNotJSON":                     oddNotJSON,
	"any replica of nothing":                       "ours also says why no copy could be read",
	"change of another version":                    "gocb calls it a document that exists; by RFC 0058 it is a CAS mismatch",
	"change 17":                                    "ours says that the value cannot be encoded",
	"projection 2":                                 "gocb loses the first of two fields of one object",
	"projection 6":                                 "gocb loses the first of two elements of one array",
	"projection 12":                                "gocb loses the values of paths in objects and arrays if there are more than 16",
	"ping report":                                  "gocb writes nanoseconds to latency_us; ours writes microseconds",
	`mutation state {"default":{"5":[7,"1","2"]}}`: "gocb ignores the third part of a token; ours reports it",
	`mutation state {"default":{"5":[7,"12345"],`:  "gocb cannot read the id of a vbucket's history that is above 2^63-1",

	"mechanisms of a password":      loginMechanism,
	"without TLS, the mechanism":    loginMechanism,
	"token that expires":            loginRefused,
	"refused token, then":           loginRefused,
	"refused token, HTTP":           loginRefused,
	"password that is old, HTTP":    loginRefused,
	"token by value":                loginPointer,
	"kinds, a password for a token": loginKind,
	"without TLS, a token":          loginKind,
	"kinds, a token for":            loginKind,
	"odd login, ":                   loginKind,

	"decisions, a cancelled context":                  oddCancelled,
	"decisions, always ":                              oddApplied,
	"decisions, status 0x82":                          oddApplied,
	"decisions, no server":                            oddApplied,
	"decisions, lost re":                              oddLost,
	"decisions, status 0xc6":                          oddNotJSON,
	"decisions, status 0xcb":                          oddInner,
	"decisions, status 0x05, append":                  oddInner,
	"decisions, no fault, append":                     oddInner,
	"decisions, temporary, then no fault, append":     oddInner,
	"decisions, temporary twice, then no fault, appe": oddInner,
	"decisions, temporary, then status 0x05, append":  oddInner,
	"decisions, temporary twice, then status 0x05, a": oddInner,

	"odd an empty id":              oddRefused,
	"odd an id of 251 bytes":       oddRefused,
	"odd in a collection an id of": oddRefused,
	"odd 0 parts":                  oddRefused,
	"odd 17 parts":                 oddRefused,
	"odd a path of 1,025 bytes":    oddRefused,
	"odd an insert with a CAS":     oddRefused,
	"odd value: above 20 MiB":      oddRefused,
	"odd value: not JSON":          "ours says that the value cannot be encoded",
	"odd content into a nil":       oddContent,
	"odd content into what is no":  oddContent,
	"odd a negative timeout":       "gocb takes a negative timeout for none; ours refuses it",
	"odd lock for -":               "gocb sends a negative lock time as a very large one; ours refuses it",
	"odd expiry -":                 oddNegative,
	"odd expiry 876000h":           oddLate,
	"odd more copies than there":   oddCopies,
	"odd ReplicateTo 1, but no":    "gocb counts the active node among the replicas of ReplicateTo; ours does not",
	"odd PersistTo without":        "gocb refuses PersistTo and ReplicateTo without mutation tokens; ours looks at the copies by the document's CAS",
	"odd a context that is c":      oddCancelled,
	"odd a context that is e":      oddExpired,
	"odd replicas and a context":   "ours also says why no copy could be read",
	"odd bulk operations and a":    "gocb ignores the context of bulk operations; ours obeys it",
	"odd a part of a ":             oddPart,
	"odd a connection that ends":   oddLost,
	"odd a timeout below 1.5 s":    "gocb lengthens the timeout of a write with a level to 1.5 s; ours keeps it",
	"odd empty names":              "gocb takes an empty name of a scope or a collection for the default one; ours refuses it",
	"odd a collection with a name": "the timeout also matches its cause",
	"odd a projection of an empty": "gocb panics at an empty path of a projection; ours refuses it",
	"odd a ReadPreference that":    "gocb takes a ReadPreference that does not exist for none; ours refuses it",
	"odd a ReadPreference without": "ours also says that PreferredServerGroup is missing",
}
