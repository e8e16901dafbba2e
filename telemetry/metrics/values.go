package metrics

import (
	"net"
	"strconv"
	"strings"

	"github.com/holdfast-db/holdfast/telemetry"
)

// values are the values of a metric's attributes, in their order. It has a place for each of the metric that has most.
type values [8]string

// ofOperation are the values of operationAttributes.
func ofOperation(o *telemetry.Operation) values {
	v := values{string(o.System), o.Namespace, o.Collection, o.Name, 7: o.ErrorType}
	if o.Service != "" { // Couchbase, by its RFC 0067
		v[2], v[4], v[5], v[6] = "", o.Service, o.Scope, o.Collection
	}
	return v
}

// Server returns the values of the attributes server.address and server.port for a server's "host:port". What is no such address is the path of a
// Unix domain socket, which has no port.
func Server(address string) (host, port string) {
	host, port, err := net.SplitHostPort(address)
	if _, wrong := strconv.ParseUint(port, 10, 16); err != nil || wrong != nil {
		return address, ""
	}
	return host, port
}

// valid returns a value as UTF-8: backends refuse other text, one of them by a panic.
func valid(value string) string { return strings.ToValidUTF8(value, "\uFFFD") }
