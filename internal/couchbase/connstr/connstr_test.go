package connstr

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text      string
		tls       bool
		addresses string
		srv       string
	}{
		{"couchbase://h", false, "h:11210", "_couchbase._tcp.h"},
		{"couchbases://h", true, "h:11207", "_couchbases._tcp.h"},
		{"COUCHBASE://h", false, "h:11210", "_couchbase._tcp.h"},
		{"h", false, "h:11210", ""},
		{"h1,h2:8091", false, "h1:11210 h2:11210", ""},
		{"h:11210=kv", false, "h:11210", ""},
		{"couchbase://h:1234", false, "h:1234", ""},
		{"couchbase://h:8091=kv", false, "h:8091", ""},
		{"couchbases://h:1234,h2", true, "h:1234 h2:11207", ""},
		{"couchbase://h;h2", false, "h:11210 h2:11210", ""},
		{"couchbase://h,,h2,", false, "h:11210 h2:11210", ""},
		{"couchbase://1.2.3.4", false, "1.2.3.4:11210", ""},
		{"couchbase://[::1]", false, "[::1]:11210", ""},
		{"couchbase://[fd00::1]:1234", false, "[fd00::1]:1234", ""},
		{"couchbase://a_b.example-1.com", false, "a_b.example-1.com:11210", "_couchbase._tcp.a_b.example-1.com"},
		{" couchbase://h\n", false, "h:11210", "_couchbase._tcp.h"},
		{"couchbase://", false, "127.0.0.1:11210", ""},
		{"", false, "127.0.0.1:11210", ""},
	} {
		s, err := Parse(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if got := strings.Join(s.Addresses(), " "); s.TLS != c.tls || got != c.addresses || s.SRV() != c.srv {
			t.Errorf("%q: TLS %t, %s, %q", c.text, s.TLS, got, s.SRV())
		}
	}
}

func TestThePathAndTheOptions(t *testing.T) {
	s, err := Parse("couchbase://h/my%20bucket?kv_timeout=1s&network=external&network=default&x")
	if err != nil || s.Bucket != "my bucket" || s.Options.Get("kv_timeout") != "1s" || !slices.Equal(s.Options["network"], []string{"external", "default"}) || !s.Options.Has("x") {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := Parse("couchbase://h/?a=%26"); err != nil || s.Bucket != "" || s.Options.Get("a") != "&" || s.SRV() == "" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestWhichStringsAreInvalid(t *testing.T) {
	for text, want := range map[string]string{
		"couchbase://couchbase://h": "two schemes",
		"http://h":                  "the scheme http; use couchbase",
		"https://h:18091":           "the scheme https; use couchbase",
		"couchbase2://h":            "couchbase2 is not supported",
		"ftp://h":                   "an unknown scheme",
		"://h":                      "an unknown scheme",
		"h:11210":                   "write couchbase://h:11210",
		"couchbase://h:8091":        "cluster manager's",
		"couchbases://h:18091":      "cluster manager's",
		"couchbase://u:secret@h":    "credentials",
		"couchbase://h:0":           "from 1 to 65535",
		"couchbase://h:65536":       "from 1 to 65535",
		"couchbase://h:-1":          "from 1 to 65535",
		"couchbase://h:+1":          "from 1 to 65535",
		"couchbase://h:secret":      "from 1 to 65535",
		"couchbase://h:":            "no port",
		"couchbase://[::1]:":        "no port",
		"couchbase://[::1]x":        "no port",
		"couchbase://[::1":          "IPv6",
		"couchbase://[1.2.3.4]":     "IPv6",
		"couchbase://::1":           "brackets",
		"couchbase://:11210":        "the host",
		"couchbase://a b":           "the host",
		"couchbase://é":             "the host",
		"couchbase://h=kv":          "without a port",
		"couchbase://h:8091=http":   "only =kv",
		"couchbase://h?a=b;c=d":     "options",
		"couchbase://h?a=%zz":       "options",
		"couchbase://h/%zz":         "bucket",
		"couchbase://h/a/b":         "bucket",
	} {
		if s, err := Parse(text); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %+v, %v", text, s, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"couchbase://h:1234,h2/b?x=1", "couchbases://[::1]:1", "h:8091;g", "couchbase://h:1=kv"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Error(err)
			}
			return
		}
		scheme := "couchbase://"
		if s.TLS {
			scheme = "couchbases://"
		}
		// The addresses with their ports are a connection string for the same nodes, unless a port is the cluster manager's.
		again, err := Parse(scheme + strings.Join(s.Addresses(), ","))
		if err == nil && !slices.Equal(again.Addresses(), s.Addresses()) {
			t.Errorf("%q: %v, and from these %v", text, s.Addresses(), again.Addresses())
		}
		if err != nil && !strings.Contains(err.Error(), "cluster manager") {
			t.Errorf("%q: %v: %v", text, s.Addresses(), err)
		}
	})
}
