package connstr

import (
	"math"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Seed is a node at which a client begins.
type Seed struct {
	Host string // without brackets
	Port int    // 0 for the default one
	// keyValue means that the string says that the port is that of the key-value service: host:port=kv.
	keyValue bool
}

// String returns the host and, if it is not the default one, the port.
func (s Seed) String() string {
	switch {
	case s.Port != 0:
		return net.JoinHostPort(s.Host, strconv.Itoa(s.Port))
	case strings.Contains(s.Host, ":"):
		return "[" + s.Host + "]"
	}
	return s.Host
}

func parseSeed(text string) (Seed, error) {
	address, service, named := strings.Cut(text, "=")
	if named && service != "kv" {
		return Seed{}, invalid("a host with =%s; only =kv is known", service)
	}
	host, port, err := cutPort(address)
	if err != nil {
		return Seed{}, err
	}
	s := Seed{Host: host, keyValue: named}
	if port == "" {
		if named {
			return Seed{}, invalid("the host %s has =kv without a port", host)
		}
		return s, nil
	}
	if s.Port, err = strconv.Atoi(port); err != nil || s.Port < 1 || s.Port > math.MaxUint16 || port[0] == '+' {
		return Seed{}, invalid("the port of %s; it must be a number from 1 to %d", host, math.MaxUint16)
	}
	return s, nil
}

// cutPort cuts host:port, or [IPv6 address]:port, where the port may be missing.
func cutPort(address string) (host, port string, err error) {
	if inside, ok := strings.CutPrefix(address, "["); ok {
		host, after, closed := strings.Cut(inside, "]")
		ip, err := netip.ParseAddr(host)
		if !closed || err != nil || !ip.Is6() {
			return "", "", invalid("a host in brackets that is no IPv6 address")
		}
		port, ok := strings.CutPrefix(after, ":")
		if after != "" && (!ok || port == "") {
			return "", "", invalid("there is no port after [%s]", host)
		}
		return host, port, nil
	}
	host, port, has := strings.Cut(address, ":")
	switch {
	case strings.Contains(port, ":"):
		return "", "", invalid("an IPv6 address must stand in brackets")
	case has && port == "":
		return "", "", invalid("there is no port after %s:", host)
	case host == "" || strings.ContainsFunc(host, notInHosts):
		return "", "", invalid("the host %q; it must have letters, digits, dots, hyphens and underscores only", host)
	}
	return host, port, nil
}

func notInHosts(r rune) bool {
	const inHosts = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"
	return !strings.ContainsRune(inHosts, r)
}
