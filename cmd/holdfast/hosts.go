package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
)

// The addresses that mean all addresses of the machine.
const (
	anyIPv4 = "0.0.0.0"
	anyIPv6 = "::"
)

// hosts returns the hosts to listen on.
func (f *mongodFlags) hosts(otherwise string) []string {
	switch {
	case (f.BindIPAll || slices.Contains(f.BindIP, "*")) && f.IPv6:
		return []string{anyIPv4, anyIPv6}
	case f.BindIPAll || slices.Contains(f.BindIP, "*"):
		return []string{anyIPv4}
	case len(f.BindIP) > 0:
		return f.BindIP
	}
	return []string{otherwise}
}

// addresses returns the addresses to listen on, and the host in the servers' own addresses.
func (c *mockCommand) addresses() (addresses []netip.Addr, name string, err error) {
	name, flag := c.Host, "--host"
	if name == "" {
		name = "127.0.0.1"
	}
	hosts := c.Mongod.hosts(name)
	if len(c.Mongod.BindIP) > 0 {
		flag = "--bind_ip"
	}
	if addresses, err = addressesOf(hosts, c.Mongod.IPv6); err != nil {
		return nil, "", fmt.Errorf("%s: %w", flag, err)
	}
	if c.Host == "" {
		name = named(hosts)
	}
	return addresses, name, nil
}

// addressesOf returns the addresses of the hosts, without duplicates. If a name has addresses of both kinds, those of
// IPv6 are returned only if ipv6 is set.
func addressesOf(hosts []string, ipv6 bool) ([]netip.Addr, error) {
	var all []netip.Addr
	for _, host := range hosts {
		found, err := lookUp(host)
		if err != nil {
			return nil, err
		}
		both := slices.ContainsFunc(found, isIPv4)
		for _, a := range found {
			if a = a.Unmap(); (isIPv4(a) || ipv6 || !both) && !slices.Contains(all, a) {
				all = append(all, a)
			}
		}
	}
	return all, nil
}

// lookUp returns the addresses of a host. Only names are looked up: for :: the resolver would also return 0.0.0.0.
func lookUp(host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

func isIPv4(a netip.Addr) bool { return a.Unmap().Is4() }

// networkOf returns the network for an address. It is tcp6 for IPv6, because with tcp [::] would include 0.0.0.0.
func networkOf(a netip.Addr) string {
	if isIPv4(a) {
		return "tcp4"
	}
	return "tcp6"
}

// named returns the host in the own address of a server that listens on hosts.
func named(hosts []string) string {
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip == nil || !ip.IsUnspecified() {
			return h
		}
	}
	if slices.Contains(hosts, anyIPv4) {
		return "127.0.0.1"
	}
	return "::1"
}
