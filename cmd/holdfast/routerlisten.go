package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// listenAddress is where clients of a router connect: a TCP address, or the path of a Unix socket.
type listenAddress struct {
	tcp  netip.AddrPort
	unix string
}

const (
	unixScheme   = "unix:"
	socketSuffix = ".sock" // by it drivers know the path of a socket in a connection string

	// longestSocket is the size in bytes of the longest path of a socket: there is one more, which is 0.
	longestSocket = len(syscall.RawSockaddrUnix{}.Path) - 1
)

// parseListen reads a value of --listen. If clients do not log in, only programs of this machine may reach the router.
func (c *routerCommand) parseListen(text string) (a listenAddress, err error) {
	if path, ok := strings.CutPrefix(text, unixScheme); ok {
		if !filepath.IsAbs(path) || !strings.HasSuffix(path, socketSuffix) {
			return a, fmt.Errorf("--listen is %q; the path of a Unix socket must be absolute and end in %s, or drivers do not know it as one", text, socketSuffix)
		}
		if len(path) > longestSocket {
			return a, fmt.Errorf("--listen is %q; the path of a Unix socket has %d bytes, it must have at most %d", text, len(path), longestSocket)
		}
		a.unix = path
		return a, nil
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil || !isPort(port) {
		return a, fmt.Errorf("--listen is %q; it must be HOST:PORT, or unix: and a path", text)
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return a, fmt.Errorf("--listen is %q; the host must be an IP address, 127.0.0.1 or [::] for example", text)
	}
	if !ip.IsLoopback() && !c.PassThrough && c.Users == "" {
		return a, fmt.Errorf("--listen is %q; without --pass-through or --users the host must be a loopback address, 127.0.0.1 or [::1] for example: "+
			"whoever reaches the router has the rights of the user in --upstream", text)
	}
	a.tcp, err = netip.ParseAddrPort(net.JoinHostPort(host, port))
	return a, err
}

// onlyOwner is the permission of a Unix socket: that of mongod's.
const onlyOwner = 0o700

func (a listenAddress) listen() (net.Listener, error) {
	if a.unix == "" {
		l, err := net.Listen(networkOf(a.tcp.Addr()), a.tcp.String())
		if err != nil {
			return nil, fmt.Errorf("--listen %v: %w", a.tcp, err)
		}
		return l, nil
	}
	removeStaleSocket(a.unix)
	l, err := net.Listen("unix", a.unix)
	if err == nil {
		if err = os.Chmod(a.unix, onlyOwner); err != nil {
			err = errors.Join(err, l.Close())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("--listen %s%s: %w", unixScheme, a.unix, err)
	}
	return l, nil
}

// listeners listens at all addresses, or at none.
func (c *routerCommand) listeners() (all []net.Listener, err error) {
	for _, text := range c.Listen {
		a, err := c.parseListen(text)
		if err != nil {
			return nil, err
		}
		l, err := a.listen()
		if err != nil {
			closeAll(all)
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

func closeAll(all []net.Listener) {
	for _, l := range all {
		_ = l.Close()
	}
}

// clientURIs returns the connection strings with which clients reach the listeners.
func clientURIs(all []net.Listener, secure bool) string {
	var list []string
	for _, l := range all {
		uri := "mongodb://" + l.Addr().String() + "/"
		switch {
		case l.Addr().Network() == "unix":
			uri = "mongodb://" + url.PathEscape(l.Addr().String()) + "/"
		case secure:
			uri += "?tls=true"
		}
		list = append(list, uri)
	}
	return strings.Join(list, ", ")
}
