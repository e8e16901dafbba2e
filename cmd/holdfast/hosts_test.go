package main

import (
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		flags     mongodFlags
		addresses string
		name      string
	}{
		{mongodFlags{}, "127.0.0.1", "127.0.0.1"},
		{mongodFlags{BindIPAll: true}, "0.0.0.0", "127.0.0.1"},
		{mongodFlags{BindIPAll: true, IPv6: true}, "0.0.0.0 ::", "127.0.0.1"},
		{mongodFlags{BindIP: []string{"*"}}, "0.0.0.0", "127.0.0.1"},
		{mongodFlags{BindIP: []string{"localhost", "*"}, IPv6: true}, "0.0.0.0 ::", "127.0.0.1"},
		{mongodFlags{BindIP: []string{"localhost", "127.0.0.1"}}, "127.0.0.1", "localhost"},
		{mongodFlags{BindIP: []string{"127.0.0.2", "::ffff:127.0.0.2"}}, "127.0.0.2", "127.0.0.2"},
		{mongodFlags{BindIP: []string{"::"}}, "::", "::1"},
		{mongodFlags{BindIP: []string{"::", "0.0.0.0"}, IPv6: true}, ":: 0.0.0.0", "127.0.0.1"},
	} {
		got, name, err := (&mockCommand{Mongod: c.flags}).addresses()
		var want []netip.Addr
		for _, a := range strings.Fields(c.addresses) {
			want = append(want, netip.MustParseAddr(a))
		}
		if err != nil || name != c.name || !slices.Equal(got, want) {
			t.Errorf("%v, %v: %v named %s, %v; want %v named %s", c.flags.BindIP, c.flags.IPv6, got, name, err, want, c.name)
		}
	}
}

func TestTheErrorOfAnUnknownHostNamesTheFlag(t *testing.T) {
	for _, flag := range []string{"--host", "--bind_ip"} {
		if code, stderr := mockOnce(t, flag, "nowhere.invalid"); code != exitCannotRun || !strings.Contains(stderr, flag+": lookup nowhere.invalid") {
			t.Errorf("%s: exit code %d, %q", flag, code, stderr)
		}
	}
}

func TestMockListensOnAllAddresses(t *testing.T) {
	uri, end := startMock(t, "--standalone", "--bind_ip_all", "--ipv6")
	defer end()
	at := []string{uri}
	if l, err := net.Listen("tcp6", "[::1]:0"); err == nil { // this machine has IPv6
		_ = l.Close()
		at = append(at, strings.Replace(uri, "127.0.0.1", "[::1]", 1))
	}
	for _, u := range at {
		if err := use(t, u); err != nil {
			t.Errorf("%s: %v", u, err)
		}
	}
}
