package mongo

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
)

const defaultProxyPort = "1080"

// The options of the connection string for a proxy, in lower case, with the names that errors have.
var proxyNames = map[string]string{
	"proxyhost": "proxyHost", "proxyport": "proxyPort", "proxyusername": "proxyUsername", "proxypassword": "proxyPassword",
}

// parseProxy returns the SOCKS5 proxy of a connection string, nil if it has none. Its errors have no value but that of the port.
func parseProxy(uri string) (*cluster.Proxy, error) {
	given, err := proxyOptions(uri)
	if err != nil || len(given) == 0 {
		return nil, err
	}
	host, ok := given["proxyhost"]
	switch {
	case !ok:
		return nil, errors.New("mongo: the connection string has options for a proxy, but no proxyHost")
	case host == "":
		return nil, errors.New("mongo: the connection string's option proxyHost is empty")
	case (given["proxyusername"] == "") != (given["proxypassword"] == ""):
		return nil, errors.New("mongo: the connection string must have both proxyUsername and proxyPassword, or neither")
	}
	port := defaultProxyPort
	if text, ok := given["proxyport"]; ok {
		if n, err := strconv.ParseUint(text, 10, 16); err != nil || n == 0 {
			return nil, fmt.Errorf("mongo: the connection string's option proxyPort is %q; it must be a number from 1 to 65535", text)
		}
		port = text
	}
	for _, name := range []string{"proxyusername", "proxypassword"} {
		if n := len(given[name]); n > maxProxyLogin {
			return nil, fmt.Errorf("mongo: the connection string's option %s has %d bytes; SOCKS5 allows at most %d", proxyNames[name], n, maxProxyLogin)
		}
	}
	return &cluster.Proxy{
		Address: net.JoinHostPort(strings.Trim(host, "[]"), port), Username: given["proxyusername"], Password: given["proxypassword"],
	}, nil
}

// maxProxyLogin is the largest length of a name and of a password in RFC 1929.
const maxProxyLogin = 255

// proxyOptions returns the options for a proxy by their names in lower case.
func proxyOptions(uri string) (map[string]string, error) {
	given := map[string]string{}
	for name, value := range optionsOf(uri) {
		lower := strings.ToLower(name)
		known := proxyNames[lower]
		if known == "" {
			continue
		}
		if _, twice := given[lower]; twice {
			return nil, fmt.Errorf("mongo: the connection string has the option %s more than once", known)
		}
		decoded, err := url.QueryUnescape(value)
		if err != nil {
			return nil, fmt.Errorf("mongo: the connection string's option %s is not percent-encoded as it must be", known)
		}
		given[lower] = decoded
	}
	return given, nil
}
