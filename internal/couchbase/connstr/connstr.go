// Package connstr reads Couchbase connection strings (RFC 0011). It has no sockets and makes no look-ups.
package connstr

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// ErrInvalid matches the errors about connection strings. Their texts never show a part that may be a password.
var ErrInvalid = errors.New("invalid connection string")

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}

// ConnString is a connection string.
type ConnString struct {
	// TLS means that the scheme was couchbases.
	TLS   bool
	Seeds []Seed
	// Bucket is the path without its first slash. Most strings have none.
	Bucket  string
	Options url.Values
	scheme  string // "" if there was none
}

// The schemes.
const (
	schemePlain = "couchbase"
	schemeTLS   = "couchbases"
)

// localhost is the seed of a connection string without hosts.
const localhost = "127.0.0.1"

// Parse reads a connection string.
func Parse(s string) (*ConnString, error) {
	c := new(ConnString)
	rest, err := c.cutScheme(strings.TrimSpace(s))
	if err != nil {
		return nil, err
	}
	rest, query, _ := strings.Cut(rest, "?")
	if c.Options, err = url.ParseQuery(query); err != nil {
		return nil, invalid("the options after ? cannot be read: %v", err)
	}
	hosts, bucket, _ := strings.Cut(rest, "/")
	if c.Bucket, err = url.PathUnescape(bucket); err != nil || strings.Contains(bucket, "/") {
		return nil, invalid("the bucket in the path cannot be read")
	}
	if strings.Contains(hosts, "@") {
		return nil, invalid("it has credentials; they belong in the options of the cluster")
	}
	for _, host := range strings.FieldsFunc(hosts, func(r rune) bool { return r == ',' || r == ';' }) {
		seed, err := parseSeed(host)
		if err != nil {
			return nil, err
		}
		if seed.Port, err = c.keyValuePort(seed); err != nil {
			return nil, err
		}
		c.Seeds = append(c.Seeds, seed)
	}
	if len(c.Seeds) == 0 {
		c.Seeds = []Seed{{Host: localhost}}
	}
	return c, nil
}

func (c *ConnString) cutScheme(s string) (rest string, err error) {
	scheme, rest, has := strings.Cut(s, "://")
	if !has {
		return s, nil
	}
	if strings.Contains(rest, "://") {
		return "", invalid("it has two schemes")
	}
	switch c.scheme = strings.ToLower(scheme); c.scheme {
	case schemePlain:
	case schemeTLS:
		c.TLS = true
	case "http", "https":
		return "", invalid("the scheme %s; use %s, or %s for TLS", c.scheme, schemePlain, schemeTLS)
	case "couchbase2":
		return "", invalid("the scheme %s is not supported; use %s, or %s for TLS", c.scheme, schemePlain, schemeTLS)
	default:
		return "", invalid("an unknown scheme; it must be %s, or %s for TLS", schemePlain, schemeTLS)
	}
	return rest, nil
}

// The ports at which a cluster manager listens, without and with TLS. Clients connect to the key-value service first.
const (
	managementPort    = 8091
	managementPortTLS = 18091
)

// keyValuePort returns a seed's port of the key-value service, 0 for the default one. It refuses a port that is another
// service's, as far as that can be seen.
func (c *ConnString) keyValuePort(s Seed) (int, error) {
	switch {
	case s.Port == 0 || s.keyValue:
	case c.scheme == "" && s.Port == managementPort: // an old way to name a cluster
		return 0, nil
	case c.scheme == "":
		return 0, invalid("the port of %s without a scheme is ambiguous; write %s://%s", s.Host, schemePlain, s)
	case s.Port == managementPort || s.Port == managementPortTLS:
		return 0, invalid("the port of %s is the cluster manager's; leave it out, or name the port of the key-value service", s.Host)
	}
	return s.Port, nil
}

// SRV returns the name of the service record that may name the seeds: for one host with a scheme and without a port that is not
// an IP address. Otherwise it returns "".
func (c *ConnString) SRV() string {
	if c.scheme == "" || len(c.Seeds) != 1 || c.Seeds[0].Port != 0 {
		return ""
	}
	host := c.Seeds[0].Host
	if _, err := netip.ParseAddr(host); err == nil {
		return ""
	}
	return "_" + c.scheme + "._tcp." + host
}

// The default ports of the key-value service.
const (
	defaultPort    = 11210
	defaultPortTLS = 11207
)

// Addresses returns the key-value addresses of the seeds, with ports.
func (c *ConnString) Addresses() []string {
	var all []string
	for _, s := range c.Seeds {
		switch {
		case s.Port != 0:
		case c.TLS:
			s.Port = defaultPortTLS
		default:
			s.Port = defaultPort
		}
		all = append(all, s.String())
	}
	return all
}
