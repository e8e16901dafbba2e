package mongo_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/mongo"
)

// Bad input gets an error that names the field and the rule, before any network use.
func TestConnectRefuses(t *testing.T) {
	const host = unknownHost + "/"
	for _, c := range []struct {
		name string
		o    *options.ClientOptions
		want string
	}{
		{"a string that is not a URI", options.Client().ApplyURI("http://x"), "mongodb"},
		{"a log level that does not exist", options.Client().ApplyURI(host).SetLoggerOptions(
			options.Logger().SetComponentLevel(options.LogComponentCommand, 3)), "the log level 3"},
		{"a log component that does not exist", options.Client().ApplyURI(host).SetLoggerOptions(
			options.Logger().SetComponentLevel(17, options.LogLevelInfo)), "the log component 17"},
		{"a level of zlib that does not exist", options.Client().ApplyURI(host).SetZlibLevel(10), "ZlibLevel is 10; it must be from -1 to 9"},
		{"a level of zlib below the least", options.Client().ApplyURI(host).SetZlibLevel(-2), "ZlibLevel is -2"},
		{"a level of zlib in the connection string", options.Client().ApplyURI(host + "?zlibCompressionLevel=10"), "zlibCompressionLevel"},
		{"a level of zstd that does not exist", options.Client().ApplyURI(host).SetZstdLevel(23), "ZstdLevel is 23; it must be from -1 to 22"},
		{"a level of zstd in the connection string", options.Client().ApplyURI(host + "?zstdCompressionLevel=23"), "zstdCompressionLevel"},
		{"minPoolSize over maxPoolSize", options.Client().ApplyURI(host + "?minPoolSize=3&maxPoolSize=2"), "minPoolSize"},
		{"an unknown serverMonitoringMode", options.Client().ApplyURI(host + "?serverMonitoringMode=push"), "push"},
		{"an unknown serverMonitoringMode, as an option", options.Client().ApplyURI(host).SetServerMonitoringMode("push"), "push"},
		{"a load balancer and two hosts", options.Client().ApplyURI("mongodb://a,b/?loadBalanced=true"), "loadBalanced"},
		{"a load balancer and two hosts, as options", options.Client().SetHosts([]string{"a", "b"}).SetLoadBalanced(true), "loadBalanced"},
		{"a load balancer and a replica set", options.Client().ApplyURI(host + "?loadBalanced=true&replicaSet=rs"), "loadBalanced"},
		{"a load balancer and a replica set, as options", options.Client().SetReplicaSet("rs").SetLoadBalanced(true), "loadBalanced"},
		{"a load balancer and a direct connection", options.Client().ApplyURI(host + "?loadBalanced=true&directConnection=true"), "loadBalanced"},
		{"a load balancer and a direct connection, as options", options.Client().SetDirect(true).SetLoadBalanced(true), "loadBalanced"},
		{"a load balancer and srvMaxHosts", options.Client().SetSRVMaxHosts(1).SetLoadBalanced(true), "srvMaxHosts"},
		{"a heartbeat under 500 ms", options.Client().ApplyURI(host).SetHeartbeatInterval(time.Millisecond), "heartbeatFrequencyMS"},
		{"a negative staleness in the connection string", options.Client().ApplyURI(host + "?readPreference=secondary&maxStalenessSeconds=-2"), `"maxStalenessSeconds": "-2"`},
		{"a negative staleness, as an option", options.Client().SetReadPreference(readpref.Nearest(readpref.WithMaxStaleness(-1))), "maxStalenessSeconds is -1ns"},
		{"a negative timeout", options.Client().ApplyURI(host).SetServerSelectionTimeout(-1), "ServerSelectionTimeout"},
		{"another representation of UUIDs", options.Client().ApplyURI(host + "?uuidRepresentation=javaLegacy"), `"javaLegacy"`},
		{"the password of a proxy", options.Client().ApplyURI(host + "?proxyPassword=secret"), "no proxyHost"},
		{"a direct connection to two hosts", options.Client().ApplyURI("mongodb://a,b/?directConnection=true"), "direct"},
		{"an app name that is too long", options.Client().ApplyURI(host).SetAppName(strings.Repeat("x", 129)), "AppName"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := &networkUse{}
			n.countQueries(t)
			err := refused(t, n, func() (*mongo.Client, error) { return mongo.Connect(c.o.SetDialer(n)) })
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q is not in: %v", c.want, err)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows the password: %v", err)
			}
		})
	}
}

// The official driver accepts them, and they mean what the client does without them.
func TestURIOptionsWithoutEffectAreAccepted(t *testing.T) {
	for _, option := range []string{
		"tls=false", "ssl=false", "TLS=false", "uuidRepresentation=standard", "uuidRepresentation=unspecified", "slaveOk=false",
		"tlsInsecure=false", "tlsAllowInvalidCertificates=false", "tlsAllowInvalidHostnames=false",
		"authSource=admin", "tls=false&slaveOk=false", "tls=false;retryReads=true", "tlsInsecure=true",
		"tlsDisableOCSPEndpointCheck=true", "tlsDisableCertificateRevocationCheck=true", "tls=true&ssl=true",
	} {
		client, err := mongo.Connect(options.Client().ApplyURI("mongodb://127.0.0.1:1/?" + option))
		if err != nil {
			t.Errorf("%s: %v", option, err)
			continue
		}
		if err := client.Disconnect(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestEveryListedURIOptionIsSupported(t *testing.T) {
	in(t, func(o *options.ClientOptions) {
		o.ApplyURI(o.GetURI() + "&retryReads=true&retryWrites=true&connectTimeoutMS=2000&serverSelectionTimeoutMS=3000&timeoutMS=4000" +
			"&heartbeatFrequencyMS=1000&appName=a&w=majority&journal=true&readPreference=secondaryPreferred&maxPoolSize=3" +
			"&maxConnecting=1&maxIdleTimeMS=5000&readConcernLevel=majority&localThresholdMS=20&serverMonitoringMode=poll" +
			"&maxAdaptiveRetries=3&enableOverloadRetargeting=true&directConnection=false")
	}, func(w *world) {
		w.seed()
		w.must(w.set.WaitIdle(w.ctx)) // the read goes to a secondary
		w.must(findOne(w))
		find := w.started("find")[0].Command
		if find.Lookup("$readPreference", "mode").StringValue() != "secondaryPreferred" ||
			find.Lookup("readConcern", "level").StringValue() != "majority" {
			t.Errorf("the command is %v", find)
		}
		if ms := find.Lookup("maxTimeMS").AsInt64(); ms <= 0 || ms > 4000 {
			t.Errorf("maxTimeMS is %d with a timeout of 4 s", ms)
		}
	})
}

func TestTheErrorOfAnOptionThatIsNotSupportedNamesIt(t *testing.T) {
	in(t, nil, func(w *world) {
		err := w.client.Database("test").CreateCollection(w.ctx, "c", options.CreateCollection().SetEncryptedFields(d{}))
		if err == nil || !strings.Contains(err.Error(), "CreateCollectionOptions.EncryptedFields") {
			t.Errorf("error: %v", err)
		}
		if n := len(w.started("")); n != 0 {
			t.Errorf("%d commands were sent", n)
		}
	})
}

// The tables list every field of the official options as supported or refused. A field that a new official release
// adds is in neither list, and fails this test.
func TestTheTablesNameEveryFieldOfTheOfficialOptions(t *testing.T) {
	known := map[reflect.Type][]string{}
	for _, row := range mongo.SupportedOptions() {
		known[row.Type] = append(row.Supported, row.Refused...)
		for _, name := range row.Supported {
			if _, ok := row.Type.FieldByName(name); !ok {
				t.Errorf("%s has no field %s", row.Type, name)
			}
			if slices.Contains(row.Refused, name) {
				t.Errorf("%s.%s is both supported and refused", row.Type, name)
			}
		}
	}
	for typ, names := range known {
		for i := range typ.NumField() {
			f := typ.Field(i)
			if f.IsExported() && !strings.Contains(" "+strings.Join(names, " ")+" ", " "+f.Name+" ") {
				t.Errorf("%s.%s is neither supported nor refused", typ, f.Name)
			}
		}
	}
	if len(known) < 10 {
		t.Errorf("only %d option types are in the tables", len(known))
	}
}
