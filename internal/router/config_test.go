package router_test

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/router"
)

func TestTheErrorOfAWrongConfigurationNamesTheField(t *testing.T) {
	for _, c := range []struct {
		uri    string
		change func(*router.Config)
		says   string
	}{
		{"mongodb://a", func(c *router.Config) { c.Upstream = nil }, "Upstream is nil; it must have the address"},
		{"mongodb://a", func(c *router.Config) { c.Window = -time.Second }, "Window is -1000000000; it must not be negative"},
		{"mongodb://a", func(c *router.Config) { c.MostWaiting = -1 }, "MostWaiting is -1"},
		{"mongodb://a", func(c *router.Config) { c.WaitingBytes = -1 }, "WaitingBytes is -1"},
		{"mongodb://a", func(c *router.Config) { c.MemoryBytes = -1 }, "MemoryBytes is -1"},
		{"mongodb://a", func(c *router.Config) { c.MemoryBytes = 191_999_999 }, "MemoryBytes is 191999999; it must be at least 192000000"},
		{"mongodb://a", func(c *router.Config) { c.Quiesce = -1 }, "Quiesce is -1"},
		{"mongodb://a", func(c *router.Config) { c.MostClients = -2 }, "MostClients is -2; it must not be negative"},
		{"mongodb://a/?loadBalanced=true", nil, "loadBalanced=true; a router needs to see each member"},
		{"mongodb://a/?serverSelectionTimeoutMS=5", nil, "serverSelectionTimeoutMS; Window"},
		{"mongodb://a/?timeoutMS=5", nil, "timeoutMS; the time of an operation"},
	} {
		cfg := router.Config{Upstream: options.Client().ApplyURI(c.uri)}
		if c.change != nil {
			c.change(&cfg)
		}
		r, err := router.New(cfg)
		if err == nil {
			r.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: the error is %v, want %q in it", c.uri, err, c.says)
		}
	}
}

// The caller's TLS configuration stays as it is, and may be used for something else.
func TestTheTLSConfigurationOfTheCallerIsNotChanged(t *testing.T) {
	secure := &tls.Config{MinVersion: tls.VersionTLS10}
	r, err := router.New(router.Config{Upstream: options.Client().ApplyURI("mongodb://127.0.0.1:1"), TLS: secure})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if secure.MinVersion != tls.VersionTLS10 {
		t.Errorf("MinVersion is %x", secure.MinVersion)
	}
}
