package clustermap

// Service is something that nodes offer.
type Service int

// The services.
const (
	KeyValue Service = iota
	Management
	Views
	Query
	Search
	Analytics
	services // their number
)

// names has the names of the services' ports in a map, without and with TLS.
var names = [services]struct{ plain, tls string }{
	KeyValue:   {"kv", "kvSSL"},
	Management: {"mgmt", "mgmtSSL"},
	Views:      {"capi", "capiSSL"},
	Query:      {"n1ql", "n1qlSSL"},
	Search:     {"fts", "ftsSSL"},
	Analytics:  {"cbas", "cbasSSL"},
}

// String returns the name that diagnostics reports use.
func (s Service) String() string {
	switch s {
	case KeyValue:
		return "kv"
	case Management:
		return "mgmt"
	case Views:
		return "views"
	case Query:
		return "query"
	case Search:
		return "search"
	case Analytics:
		return "analytics"
	case services:
	}
	return "unknown service"
}
