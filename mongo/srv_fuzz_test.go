package mongo_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongo"
)

// anyName is a resolver that has one record for every name, and fails the test for a name that has a part of something else.
type anyName struct{ t *testing.T }

func (a anyName) LookupSRV(_ context.Context, service, _, name string) (string, []*net.SRV, error) {
	if strings.ContainsAny(name, "@:/?,") || name == "" || strings.ContainsAny(service, "@:/?,.") {
		a.t.Errorf("the service %q of the name %q was looked up", service, name)
	}
	return "", []*net.SRV{{Target: "target." + name, Port: 1}}, nil
}

func (a anyName) LookupTXT(_ context.Context, name string) ([]string, error) {
	if strings.ContainsAny(name, "@:/?,") {
		a.t.Errorf("the name %q was looked up", name)
	}
	return nil, nil
}

// Whatever the connection string is, only a host name is looked up, and the hosts are those of the records.
func FuzzSRVConnectionString(f *testing.F) {
	for _, s := range []string{
		"a.example.com/?tls=false", "u:p@a.example.com/db?tls=false&srvMaxHosts=2", "a@b@c/?", "u:p/x@a.b.c/", "a,b/", "a:1/", "", "/", "?",
		"a.b.c?tls=false", "a.b.c/?tls=false&srvServiceName=x", "a.b.c/?tls=false;replicaSet=%zz", "a.b.c/?tls=false&authSource=@x", "A.B.C./%3f?tls=false",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		o, err := mongo.Resolve("mongodb+srv://"+s, mongo.Config{Resolver: anyName{t}})
		if err == nil && (len(o.Hosts) != 1 || !strings.HasPrefix(o.Hosts[0], "target.") || !strings.HasSuffix(o.Hosts[0], ":1")) {
			t.Errorf("the hosts are %q", o.Hosts)
		}
	})
}
