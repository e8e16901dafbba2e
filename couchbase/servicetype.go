package couchbase

// ServiceType names a service of a cluster's nodes.
type ServiceType int

// The services. Eventing is not among them: this client does not use it.
const (
	ServiceTypeManagement ServiceType = 2
	ServiceTypeKeyValue   ServiceType = 1
	ServiceTypeViews      ServiceType = 3
	ServiceTypeQuery      ServiceType = 4
	ServiceTypeSearch     ServiceType = 5
	ServiceTypeAnalytics  ServiceType = 6
)

// reportName returns the service's name in the reports of Ping and Diagnostics.
func (s ServiceType) reportName() string {
	switch s {
	case ServiceTypeManagement:
		return "mgmt"
	case ServiceTypeKeyValue:
		return "kv"
	case ServiceTypeViews:
		return "views"
	case ServiceTypeQuery:
		return "query"
	case ServiceTypeSearch:
		return "search"
	case ServiceTypeAnalytics:
		return "analytics"
	default:
		return ""
	}
}
