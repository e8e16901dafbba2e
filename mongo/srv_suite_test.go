package mongo_test

import (
	"context"
	"crypto/tls"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest"
	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// seedlistCase is a file of the suite initial-dns-seedlist-discovery.
type seedlistCase struct {
	URI      string
	Seeds    []string
	NumSeeds *int `bson:"numSeeds"`
	Hosts    []string
	NumHosts *int `bson:"numHosts"`
	Options  struct {
		ReplicaSet       *string `bson:"replicaSet"`
		AuthSource       *string `bson:"authSource"`
		LoadBalanced     *bool   `bson:"loadBalanced"`
		DirectConnection *bool   `bson:"directConnection"`
		SRVMaxHosts      *int    `bson:"srvMaxHosts"`
		SRVServiceName   *string `bson:"srvServiceName"`
		SSL              *bool   `bson:"ssl"`
	}
	ParsedOptions struct{ User, Password *string } `bson:"parsed_options"`
	Error         bool
	Ping          *bool
}

// refusal is a part of the error of an option that the client does not have yet.
const refusal = "is not supported by Holdfast"

// runWith runs a deployment with options.
type runWith func(...mongotest.Option) (*mongotest.Deployment, error)

// The published cases of Initial DNS Seedlist Discovery, with the records that its README lists.
func TestInitialDNSSeedlistDiscovery(t *testing.T) {
	passed, listed := 0, 0
	for folder, run := range map[string]runWith{
		"replica-set": func(opts ...mongotest.Option) (*mongotest.Deployment, error) {
			return mongotest.RunReplicaSet(3, append(opts, mongotest.SetName("repl0"))...)
		},
		"sharded": func(opts ...mongotest.Option) (*mongotest.Deployment, error) {
			return mongotest.RunSharded(1, 2, opts...)
		},
		"load-balanced": func(opts ...mongotest.Option) (*mongotest.Deployment, error) {
			return mongotest.RunSharded(1, 2, append(opts, mongotest.LoadBalancer())...)
		},
	} {
		files, err := filepath.Glob(filepath.Join(spectest.Folder(t), "initial-dns-seedlist-discovery", "tests", folder, "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("the folder %s has %d files (%v)", folder, len(files), err)
		}
		for _, file := range files {
			t.Run(folder+"/"+strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
				var c seedlistCase
				spectest.Load(t, file, &c)
				if reason := c.run(t, run); reason != "" {
					listed++
					t.Log(reason)
					return
				}
				passed++
			})
		}
	}
	t.Logf("initial-dns-seedlist-discovery: %d passed, %d listed", passed, listed)
	if listed > 0 {
		t.Errorf("%d cases are listed, none may be", listed)
	}
}

// run returns why a case cannot be run yet, or "".
func (c *seedlistCase) run(t *testing.T, run runWith) string {
	o, err := mongo.Resolve(c.URI, mongo.Config{Resolver: published()})
	switch {
	case c.Error && err == nil:
		t.Error("the connection string is accepted")
		return ""
	case c.Error:
		return ""
	case err != nil && strings.Contains(err.Error(), refusal):
		return err.Error()
	case err != nil:
		t.Fatal(err)
	}
	c.checkOptions(t, o)
	if c.Ping == nil || *c.Ping {
		c.ping(t, c.URI, o.TLSConfig != nil, run)
	}
	return ""
}

func (c *seedlistCase) checkOptions(t *testing.T, o *options.ClientOptions) {
	if c.NumSeeds != nil && len(o.Hosts) != *c.NumSeeds {
		t.Errorf("the seeds are %v, want %d", o.Hosts, *c.NumSeeds)
	}
	if want := slices.Sorted(slices.Values(c.Seeds)); c.Seeds != nil && !slices.Equal(slices.Sorted(slices.Values(o.Hosts)), want) {
		t.Errorf("the seeds are %v, want %v", o.Hosts, want)
	}
	equalOption(t, "replicaSet", o.ReplicaSet, c.Options.ReplicaSet)
	equalOption(t, "loadBalanced", o.LoadBalanced, c.Options.LoadBalanced)
	equalOption(t, "directConnection", o.Direct, c.Options.DirectConnection)
	equalOption(t, "srvMaxHosts", o.SRVMaxHosts, c.Options.SRVMaxHosts)
	equalOption(t, "srvServiceName", o.SRVServiceName, c.Options.SRVServiceName)
	if want := c.Options.SSL; want != nil && (o.TLSConfig != nil) != *want {
		t.Errorf("TLS is %v, want %v", o.TLSConfig != nil, *want)
	}
	if o.Auth != nil {
		equalOption(t, "authSource", &o.Auth.AuthSource, c.Options.AuthSource)
		equalOption(t, "user", &o.Auth.Username, c.ParsedOptions.User)
		equalOption(t, "password", &o.Auth.Password, c.ParsedOptions.Password)
	}
}

func equalOption[T comparable](t *testing.T, name string, got, want *T) {
	t.Helper()
	switch {
	case want == nil:
	case got == nil:
		t.Errorf("%s is not set, want %v", name, *want)
	case *got != *want:
		t.Errorf("%s is %v, want %v", name, *got, *want)
	}
}

// ping runs a ping and compares the servers that the client has found. Those of the deployment have names of their own.
func (c *seedlistCase) ping(t *testing.T, uri string, withTLS bool, run runWith) {
	synctest.Test(t, func(t *testing.T) {
		opts, given := []mongotest.Option{mongotest.InMemory()}, options.Client()
		if withTLS { // the certificates are not for the names of the suite
			opts, given = append(opts, mongotest.TLS()), given.SetTLSConfig(&tls.Config{InsecureSkipVerify: true}) //nolint:gosec // see above
		}
		set, err := run(opts...)
		if err != nil {
			t.Fatal(err)
		}
		defer set.Close()
		dialer := mongosAt(set)
		if strings.Contains(set.URI(), "loadBalanced") {
			dialer.addresses["localhost.test.build.10gen.cc:8000"] = set.LoadBalancerAddr(0)
		}
		names := map[string]string{} // those of the suite, by address
		if set.Mongos() == 0 {
			for i := range 3 {
				port := strconv.Itoa(27017 + i)
				dialer.addresses["localhost.test.build.10gen.cc:"+port] = set.Addr(i)
				dialer.addresses["localhost.sub.test.build.10gen.cc:"+port] = set.Addr(i)
				names[set.Addr(i)] = "localhost:" + port
			}
		}
		client, err := mongo.Open(uri, mongo.Config{Resolver: published()}, given.SetDialer(dialer))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Disconnect(context.Background()) }()
		if err := client.Ping(context.Background(), nil); err != nil {
			t.Error(err)
		}
		wait(rescan / 2)
		hosts := client.Hosts()
		for i, h := range hosts {
			if names[h] != "" {
				hosts[i] = names[h]
			}
		}
		slices.Sort(hosts)
		if want := slices.Sorted(slices.Values(c.Hosts)); c.Hosts != nil && !slices.Equal(hosts, want) {
			t.Errorf("the hosts are %v, want %v", hosts, want)
		}
		if c.NumHosts != nil && len(hosts) != *c.NumHosts {
			t.Errorf("the hosts are %v, want %d", hosts, *c.NumHosts)
		}
	})
}
