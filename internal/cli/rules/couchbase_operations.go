package rules

import "strings"

// couchbaseService is a service of a Couchbase cluster.
type couchbaseService string

const (
	keyValue   couchbaseService = "key-value"
	query      couchbaseService = "query"
	analytics  couchbaseService = "analytics"
	search     couchbaseService = "search"
	views      couchbaseService = "views"
	management couchbaseService = "management"
)

// CouchbaseOperation is an operation of the Couchbase client.
type CouchbaseOperation struct {
	Name    string
	service couchbaseService
	// idempotent is the request flag of RFC 0049.
	idempotent bool
}

var couchbaseOperations = []CouchbaseOperation{
	{"get", keyValue, true},
	{"exists", keyValue, true},
	{"lookupIn", keyValue, true},
	{"getAndTouch", keyValue, false},
	{"getAndLock", keyValue, false},
	{"unlock", keyValue, false},
	{"touch", keyValue, false},
	{"insert", keyValue, false},
	{"upsert", keyValue, false},
	{"replace", keyValue, false},
	{"remove", keyValue, false},
	{"append", keyValue, false},
	{"prepend", keyValue, false},
	{"increment", keyValue, false},
	{"decrement", keyValue, false},
	{"mutateIn", keyValue, false},
	{"query", query, false},
	{"queryReadonly", query, true},
	{"analytics", analytics, false},
	{"analyticsReadonly", analytics, true},
	{"search", search, true},
	{"view", views, true},
	{"getAllBuckets", management, true},
	{"createBucket", management, false},
}

// CouchbaseOperations returns the names of the operations of the Couchbase client.
func CouchbaseOperations() []string {
	names := make([]string, len(couchbaseOperations))
	for i := range couchbaseOperations {
		names[i] = couchbaseOperations[i].Name
	}
	return names
}

// CouchbaseOperationNamed returns the operation with a name, in any case.
func CouchbaseOperationNamed(name string) (CouchbaseOperation, error) {
	for _, o := range couchbaseOperations {
		if strings.EqualFold(o.Name, name) {
			return o, nil
		}
	}
	return CouchbaseOperation{}, unknownName("operation", name, CouchbaseOperations())
}

// Service returns the name of the service that does the operation.
func (o CouchbaseOperation) Service() string { return string(o.service) }
