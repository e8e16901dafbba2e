package frames

import "strings"

const (
	compressed = "gocb's Snappy encoder chooses other copies, of which some are longer; both inflate to the same value"
	smallest   = "gocb does not compress a value of exactly the smallest size that is compressed; ours does"
	majority   = "gocb gives a write with the level majority KVTimeout, 2.5 s; ours gives it KVDurableTimeout, 10 s, as RFC 0059 says"
	message    = "gocb takes the spaces out of a json.RawMessage in a change; ours sends it as it is"
	decrement  = "gocb does not create the document of a DecrementOp whose Initial is 0; ours creates it, as Initial's comment says"
	locks      = "gocb sends a lock time below a second as 0 and one above 30 s as it is, for which servers take their default; ours sends 1 and 30"
	user       = "ours does not act for another user: it refuses the option"
)

// differences are the steps whose packets differ, with the reason.
var differences = map[string]string{
	"append: long":                                          compressed,
	"prepend: long":                                         compressed,
	"insert: long":                                          compressed,
	"insert: long and binary":                               compressed,
	"insert: long of an object":                             compressed,
	"upsert: long":                                          compressed,
	"upsert: long and binary":                               compressed,
	"upsert: long of an object":                             compressed,
	"replace: long":                                         compressed,
	"replace: long and binary":                              compressed,
	"replace: long of an object":                            compressed,
	"insert: of 32 bytes":                                   smallest,
	"upsert: of 32 bytes":                                   smallest,
	"replace: of 32 bytes":                                  smallest,
	"mutate-in: a message":                                  message,
	"bulk: counters":                                        decrement,
	"lock and unlock: 500ms":                                locks,
	"lock and unlock: 31s":                                  locks,
	"lock and unlock: 1h0m0s":                               locks,
	"user: get":                                             user,
	"user: lookup-in":                                       user,
	"user: upsert with all frames":                          user,
	"collection: durable":                                   majority,
	"upsert: preserve expiry and a level":                   majority,
	"insert: durability majority, timeout 0s":               majority,
	"upsert: durability majority, timeout 0s":               majority,
	"replace: durability majority, timeout 0s":              majority,
	"remove: durability majority, timeout 0s":               majority,
	"append: durability majority, timeout 0s":               majority,
	"prepend: durability majority, timeout 0s":              majority,
	"increment: durability majority, timeout 0s":            majority,
	"decrement: durability majority, timeout 0s":            majority,
	"mutate-in: durability majority, timeout 0s":            majority,
	"mutate-in: preserve expiry and a level":                majority,
	"mutate-in of no document: preserve expiry and a level": majority,
	"write of a document that is read from replicas":        majority,
}

// featureDifferences are the features of which only one client asks in HELLO, with the reason.
var featureDifferences = map[string]string{
	"0002": "gocb asks for the feature TLS in HELLO, which servers do not use",
}

// The framing extra of the level majority with 2.25 s and with 9 s: nine tenths of the two timeouts.
const gocbsMajority, ourMajority = "130108ca", "13012328"

// onlyFor reports whether the packets of a step differ for the given reason alone. Of reasons that change what is sent it cannot say more.
func onlyFor(reason, name string, ours, gocbs recording) bool {
	switch reason {
	case compressed, smallest:
		return ours.Inflated[name] == gocbs.Inflated[name]
	case majority:
		return ours.Steps[name] == strings.ReplaceAll(gocbs.Steps[name], gocbsMajority, ourMajority)
	case user:
		return ours.Steps[name] == ""
	}
	return true
}
