package gocbcompare

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
	"any replica of nothing":                       "ours also says why no copy could be read",
	"change of another version":                    "gocb calls it a document that exists; by RFC 0058 it is a CAS mismatch",
	"change 17":                                    "ours says that the value cannot be encoded",
	"projection 2":                                 "gocb loses the first of two fields of one object",
	"projection 6":                                 "gocb loses the first of two elements of one array",
	"projection 12":                                "gocb loses the values of paths in objects and arrays if there are more than 16",
	"ping report":                                  "gocb writes nanoseconds to latency_us; ours writes microseconds",
	`mutation state {"default":{"5":[7,"1","2"]}}`: "gocb ignores the third part of a token; ours reports it",
	`mutation state {"default":{"5":[7,"12345"],`:  "gocb cannot read the id of a vbucket's history that is above 2^63-1",
}
