package mongo_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// zone is a resolver with records of its own. Its methods are safe for concurrent use.
type zone struct {
	mu  sync.Mutex
	srv map[string][]string // "host:port" by "_service._tcp.name"
	txt map[string][]string
	err error // of every look-up of SRV records

	lookups []time.Time // of SRV records
	others  int         // DNS queries for records that are neither SRV nor TXT
}

func (z *zone) LookupSRV(_ context.Context, service, proto, name string) (string, []*net.SRV, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.lookups = append(z.lookups, time.Now())
	if z.err != nil {
		return "", nil, z.err
	}
	records, ok := z.srv[fmt.Sprintf("_%s._%s.%s", service, proto, strings.ToLower(name))]
	if !ok {
		return "", nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	var found []*net.SRV
	for _, record := range records {
		host, port, _ := net.SplitHostPort(record)
		n, _ := strconv.ParseUint(port, 10, 16)
		found = append(found, &net.SRV{Target: host + ".", Port: uint16(n)})
	}
	return "", found, nil
}

func (z *zone) LookupTXT(_ context.Context, name string) ([]string, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	records, ok := z.txt[strings.ToLower(name)]
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	return records, nil
}

// set replaces the records of a name.
func (z *zone) set(name string, records ...string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.srv[name] = records
}

// fail makes every look-up of SRV records fail. Nil ends that.
func (z *zone) fail(err error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.err = err
}

// times returns the times of the look-ups since a moment.
func (z *zone) times(since time.Time) []time.Duration {
	z.mu.Lock()
	defer z.mu.Unlock()
	var times []time.Duration
	for _, at := range z.lookups {
		if at.After(since) {
			times = append(times, at.Sub(since))
		}
	}
	return times
}

const testDomain = ".test.build.10gen.cc"

// published returns the records that the README of the specification's tests lists.
func published() *zone {
	z := &zone{srv: map[string][]string{}, txt: map[string][]string{
		"test5" + testDomain:  {"replicaSet=repl0&authSource=thisDB"},
		"test6" + testDomain:  {"replicaSet=repl0", "authSource=otherDB"},
		"test7" + testDomain:  {"ssl=false"},
		"test8" + testDomain:  {"authSource"},
		"test10" + testDomain: {"socketTimeoutMS=500"},
		"test11" + testDomain: {"replicaS" + "et=rep" + "l0"},
		"test20" + testDomain: {"loadBalanced=true"},
		"test21" + testDomain: {"loadBalanced=false"},
		"test24" + testDomain: {"loadBalanced=true"},
	}}
	for name, records := range map[string]string{
		"1": "localhost.test.build.10gen.cc:27017 localhost.test.build.10gen.cc:27018",
		"2": "localhost.test.build.10gen.cc:27018 localhost.test.build.10gen.cc:27019",
		"3": "", "5": "", "6": "", "7": "", "8": "", "10": "", "11": "", "20": "", "21": "", // localhost.test.build.10gen.cc:27017
		"12": "localhost.build.10gen.cc:27017", "13": "test.build.10gen.cc:27017", "14": "localhost.not-test.build.10gen.cc:27017",
		"15": "localhost.test.not-build.10gen.cc:27017", "16": "localhost.test.build.not-10gen.cc:27017",
		"17": "localhost.test.build.10gen.not-cc:27017", "18": "localhost.sub.test.build.10gen.cc:27017",
		"19": "localhost.evil.build.10gen.cc:27017 localhost.test.build.10gen.cc:27017",
		"23": "localhost.test.build.10gen.cc:8000", "24": "localhost.test.build.10gen.cc:8000",
	} {
		if records == "" {
			records = "localhost.test.build.10gen.cc:27017"
		}
		z.srv["_mongodb._tcp.test"+name+testDomain] = strings.Fields(records)
	}
	// The README lists one record, the case srv-service-name and the prose tests of the polling have two.
	z.srv["_customname._tcp.test22"+testDomain] = []string{h17, h18}
	return z
}

// The prose tests of Initial DNS Seedlist Discovery, and the sentences about what a client must verify.
func TestTheHostsOfSRVRecordsAreVerified(t *testing.T) {
	for _, c := range []struct {
		name, host, target string
		ok                 bool
	}{
		{"1. fewer than three parts are allowed: localhost", "localhost", "test_1.localhost:1", true},
		{"1. fewer than three parts are allowed: mongo.local", "mongo.local", "a.mongo.local:1", true},
		{"2. the target does not end with the domain: localhost", "localhost", "localhost.mongodb:1", false},
		{"2. the target does not end with the domain: mongo.local", "mongo.local", "test_1.evil.local:1", false},
		{"2. the target does not end with the domain: blogs.mongodb.com", "blogs.mongodb.com", "blogs.evil.com:1", false},
		{"3. the target is the host: localhost", "localhost", "localhost:1", false},
		{"3. the target is the host: mongo.local", "mongo.local", "mongo.local:1", false},
		{"4. the target has no dot before the domain: localhost", "localhost", "test_1.cluster_1localhost:1", false},
		{"4. the target has no dot before the domain: mongo.local", "mongo.local", "test_1.my_hostmongo.local:1", false},
		{"4. the target has no dot before the domain: blogs.mongodb.com", "blogs.mongodb.com", "cluster.testmongodb.com:1", false},
		{"with three parts the target may be the host", "blogs.mongodb.com", "blogs.mongodb.com:1", true},
		{"the target may have more parts", "blogs.mongodb.com", "a.b.c.mongodb.com:1", true},
		{"the case of letters does not matter", "BLOGS.MongoDB.com", "A.mongodb.COM:1", true},
		{"the host may end with a dot", "blogs.mongodb.com.", "a.mongodb.com:1", true},
		{"the target is the domain without a first part", "blogs.mongodb.com", "mongodb.com:1", false},
		{"the target has an empty first part", "blogs.mongodb.com", ".mongodb.com:1", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			z := &zone{srv: map[string][]string{"_mongodb._tcp." + strings.ToLower(c.host): {c.target}}}
			o, err := mongo.Resolve("mongodb+srv://"+c.host+"/?tls=false", mongo.Config{Resolver: z})
			switch {
			case c.ok && (err != nil || !slices.Equal(o.Hosts, []string{strings.ToLower(c.target)})):
				t.Errorf("hosts %v, error: %v", o, err)
			case !c.ok && (err == nil || !strings.Contains(err.Error(), "is not in the domain")):
				t.Errorf("error: %v", err)
			}
		})
	}
}

func TestTheRulesOfSRVAndTXTRecords(t *testing.T) {
	temporary := &net.DNSError{Err: "server misbehaving", IsTemporary: true}
	for _, c := range []struct {
		name  string
		uri   string
		edit  func(*zone)
		given *options.ClientOptions
		want  string // in the error
		check func(*testing.T, *options.ClientOptions)
	}{
		{"the error of a look-up is in the error", "test1.test.build.10gen.cc/?", func(z *zone) { z.err = temporary }, nil, "server misbehaving", nil},
		{"no record is an error", "test4.test.build.10gen.cc/?", nil, nil, "_mongodb._tcp.test4.test.build.10gen.cc", nil},
		{"an empty answer is an error", "test1.test.build.10gen.cc/?", func(z *zone) { z.set("_mongodb._tcp.test1" + testDomain) }, nil, "there are no SRV records", nil},
		{"an option of the connection string overrides the TXT record", "test5.test.build.10gen.cc/?replicaset=mine&", nil, nil, "", func(t *testing.T, o *options.ClientOptions) {
			if *o.ReplicaSet != "mine" {
				t.Errorf("replicaSet is %q", *o.ReplicaSet)
			}
		}},
		{"an option given in code overrides the TXT record", "test5.test.build.10gen.cc/?", nil, options.Client().SetReplicaSet("mine"), "", func(t *testing.T, o *options.ClientOptions) {
			if *o.ReplicaSet != "mine" {
				t.Errorf("replicaSet is %q", *o.ReplicaSet)
			}
		}},
		{"a TXT record with an option that is not allowed", "test10.test.build.10gen.cc/?", nil, nil, `"socketTimeoutMS"; it may have authSource, replicaSet and loadBalanced only`, nil},
		{"a TXT record with a wrong value", "test1.test.build.10gen.cc/?", func(z *zone) { z.txt["test1"+testDomain] = []string{"loadBalanced=maybe"} }, nil, "loadBalanced", nil},
		{"srvMaxHosts given in code", "test1.test.build.10gen.cc/?", nil, options.Client().SetSRVMaxHosts(1), "", func(t *testing.T, o *options.ClientOptions) {
			if len(o.Hosts) != 1 {
				t.Errorf("hosts %v", o.Hosts)
			}
		}},
		{"srvMaxHosts and the replica set of a TXT record", "test5.test.build.10gen.cc/?srvMaxHosts=1&", nil, nil, "srvMaxHosts", nil},
		{"srvServiceName given in code", "test22.test.build.10gen.cc/?", nil, options.Client().SetSRVServiceName("customname"), "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			z := published()
			if c.edit != nil {
				c.edit(z)
			}
			o, err := mongo.Resolve("mongodb+srv://"+c.uri+"tls=false", mongo.Config{Resolver: z}, c.given)
			switch {
			case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Fatalf("error %v, want %q", err, c.want)
			case c.check != nil:
				c.check(t, o)
			}
		})
	}
	t.Run("a failed look-up of the TXT record is an error", func(t *testing.T) {
		_, err := mongo.Resolve("mongodb+srv://test1.test.build.10gen.cc/?tls=false", mongo.Config{Resolver: &noTXT{published(), temporary}})
		if err == nil || !strings.Contains(err.Error(), "looking up the TXT record of test1.test.build.10gen.cc: ") || !errors.Is(err, temporary) {
			t.Errorf("error: %v", err)
		}
	})
}

// noTXT is a zone whose look-ups of TXT records fail.
type noTXT struct {
	*zone
	err error
}

func (n *noTXT) LookupTXT(context.Context, string) ([]string, error) { return nil, n.err }

func TestTheHostsOfSRVMaxHostsArePickedAtRandom(t *testing.T) {
	seen := map[string]int{}
	for range 200 {
		o, err := mongo.Resolve("mongodb+srv://test1.test.build.10gen.cc/?srvMaxHosts=1&tls=false", mongo.Config{Resolver: published()})
		if err != nil {
			t.Fatal(err)
		}
		seen[o.Hosts[0]]++
	}
	if len(seen) != 2 {
		t.Errorf("the hosts are %v", seen)
	}
}

func TestALookupEndsAfterTheConnectTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := mongo.Resolve("mongodb+srv://test1.test.build.10gen.cc/?tls=false&connectTimeoutMS=2000", mongo.Config{Resolver: silentZone{}})
		if took := time.Since(began); took != 2*time.Second || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

type silentZone struct{}

func (silentZone) LookupSRV(ctx context.Context, _, _, _ string) (string, []*net.SRV, error) {
	<-ctx.Done()
	return "", nil, ctx.Err()
}

func (silentZone) LookupTXT(ctx context.Context, _ string) ([]string, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// rescan is the interval of the polling without a TTL.
const rescan = time.Minute

// resolving is a dialer that knows the servers of a deployment by the names of a zone: "localhost.test.build.10gen.cc:27017" is
// the first, and so on.
type resolving struct {
	*mongotest.Dialer
	addresses map[string]string
}

func (r resolving) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	own := r.addresses[address]
	switch {
	case own != "":
		address = own
	case strings.Contains(address, ".10gen.cc:"): // a real look-up would leave the bubble of the test
		return nil, &net.DNSError{Err: "no such host", Name: address, IsNotFound: true}
	}
	return r.Dialer.DialContext(ctx, network, address)
}

func mongosAt(set *mongotest.Deployment) resolving {
	r := resolving{set.Dialer(), map[string]string{}}
	for i := range set.Mongos() {
		r.addresses["localhost.test.build.10gen.cc:"+strconv.Itoa(27017+i)] = set.MongosAddr(i)
	}
	return r
}

// polled runs f with a client of four mongos whose hosts come from a zone.
func polled(t *testing.T, uri string, given *options.ClientOptions, f func(t *testing.T, z *zone, c *mongo.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		set, err := mongotest.RunSharded(1, 4, mongotest.InMemory())
		if err != nil {
			t.Fatal(err)
		}
		defer set.Close()
		z := published()
		if given == nil {
			given = options.Client()
		}
		client, err := mongo.Open(uri, mongo.Config{Resolver: z}, given.SetDialer(mongosAt(set)))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Disconnect(context.Background()) }()
		if err := client.Ping(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		f(t, z, client)
		if err := client.Ping(context.Background(), nil); err != nil {
			t.Error(err)
		}
	})
}

const (
	test1               = "_mongodb._tcp.test1" + testDomain
	test1URI, test22URI = "mongodb+srv://test1" + testDomain + "/?tls=false", "mongodb+srv://test22" + testDomain + "/?tls=false&srvServiceName=customname"
	h17, h18, h19, h20  = "localhost.test.build.10gen.cc:27017", "localhost.test.build.10gen.cc:27018", "localhost.test.build.10gen.cc:27019", "localhost.test.build.10gen.cc:27020"
)

// The prose tests of Polling SRV Records for mongos Discovery, by their numbers (9 is in the tests of load balancers).
func TestSRVRecordsArePolled(t *testing.T) {
	for _, c := range []struct {
		name   string
		uri    string
		given  *options.ClientOptions
		change func(*zone)
		want   []string
	}{
		{"1. a record is added", test1URI, nil, func(z *zone) { z.set(test1, h17, h18, h19) }, []string{h17, h18, h19}},
		{"2. a record is removed", test1URI, nil, func(z *zone) { z.set(test1, h17) }, []string{h17}},
		{"3. a record is replaced", test1URI, nil, func(z *zone) { z.set(test1, h17, h19) }, []string{h17, h19}},
		{"4. both records are replaced by one", test1URI, nil, func(z *zone) { z.set(test1, h19) }, []string{h19}},
		{"5. both records are replaced by two", test1URI, nil, func(z *zone) { z.set(test1, h19, h20) }, []string{h19, h20}},
		{"6. the look-up times out", test1URI, nil, func(z *zone) { z.fail(&net.DNSError{Err: "i/o timeout", IsTimeout: true}) }, []string{h17, h18}},
		{"7. the look-up fails", test1URI, nil, func(z *zone) { z.fail(&net.DNSError{Err: "no such host", IsNotFound: true}) }, []string{h17, h18}},
		{"8. there are no records any more", test1URI, nil, func(z *zone) { z.set(test1) }, []string{h17, h18}},
		{"10. srvMaxHosts is 0", test1URI + "&srvMaxHosts=0", nil, func(z *zone) { z.set(test1, h17, h19, h20) }, []string{h17, h19, h20}},
		{"11. srvMaxHosts is the number of records", test1URI + "&srvMaxHosts=2", nil, func(z *zone) { z.set(test1, h19, h20) }, []string{h19, h20}},
		{"13. a service name of its own", test22URI, nil, func(z *zone) { z.set("_customname._tcp.test22"+testDomain, h19, h20) }, []string{h19, h20}},
		{"the service name is given in code", "mongodb+srv://test22" + testDomain + "/?tls=false", options.Client().SetSRVServiceName("customname"), func(z *zone) { z.set("_customname._tcp.test22"+testDomain, h19, h20) }, []string{h19, h20}},
		{"a record that is not verified is left out", test1URI, nil, func(z *zone) { z.set(test1, h17, "localhost.evil.build.10gen.cc:27017") }, []string{h17}},
		{"no record is verified", test1URI, nil, func(z *zone) { z.set(test1, "localhost.evil.build.10gen.cc:27017") }, []string{h17, h18}},
	} {
		t.Run(c.name, func(t *testing.T) {
			polled(t, c.uri, c.given, func(t *testing.T, z *zone, client *mongo.Client) {
				c.change(z)
				wait(rescan - time.Second)
				if slices.Equal(client.Hosts(), c.want) && !slices.Equal(c.want, []string{h17, h18}) {
					t.Error("the records were polled before the interval has passed")
				}
				wait(rescan)
				if got := client.Hosts(); !slices.Equal(got, c.want) {
					t.Errorf("the hosts are %v, want %v", got, c.want)
				}
				z.fail(nil)
			})
		})
	}
}

func TestNewSRVRecordsArePickedAtRandom(t *testing.T) {
	seen := map[string]bool{}
	for range 20 {
		polled(t, test1URI+"&srvMaxHosts=2", nil, func(t *testing.T, z *zone, client *mongo.Client) {
			z.set(test1, h17, h19, h20)
			wait(2 * rescan)
			hosts := client.Hosts()
			if len(hosts) != 2 || hosts[0] != h17 || hosts[1] == h18 {
				t.Fatalf("the hosts are %v: one is %s, the other one is new", hosts, h17)
			}
			seen[hosts[1]] = true
		})
	}
	if len(seen) != 2 {
		t.Errorf("of the new hosts only %v were picked", seen)
	}
}

func TestWhenSRVRecordsArePolled(t *testing.T) {
	const heartbeat = 10 * time.Second
	polled(t, test1URI, nil, func(t *testing.T, z *zone, _ *mongo.Client) {
		began := time.Now()
		z.fail(errors.New("no name server"))
		wait(rescan + 2*heartbeat + heartbeat/2)
		z.fail(nil)
		wait(2 * rescan)
		want := []time.Duration{
			rescan, rescan + heartbeat, rescan + 2*heartbeat, // they fail: the heartbeat interval follows
			rescan + 3*heartbeat, // it succeeds: the whole interval follows
			2*rescan + 3*heartbeat,
		}
		got := z.times(began)
		for i := range got {
			got[i] = got[i].Truncate(time.Second)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the look-ups were at %v, want %v", got, want)
		}
	})
}

// "Drivers MUST NOT rescan SRV DNS records when the Topology is not Sharded."
func TestSRVRecordsOfAReplicaSetAreNotPolled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, err := mongotest.RunReplicaSet(3, mongotest.InMemory(), mongotest.SetName("repl0"))
		if err != nil {
			t.Fatal(err)
		}
		defer set.Close()
		dialer := resolving{set.Dialer(), map[string]string{h17: set.Addr(0)}}
		z := published()
		client, err := mongo.Open("mongodb+srv://test3"+testDomain+"/?tls=false", mongo.Config{Resolver: z}, options.Client().SetDialer(dialer))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Disconnect(context.Background()) }()
		if err := client.Ping(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		wait(10 * rescan)
		if n := len(z.times(began)); n != 0 {
			t.Errorf("the records were looked up %d times", n)
		}
	})
}

// The polling ends with the client, also in a look-up.
func TestTheEndOfAClientEndsThePolling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := &lateSilence{zone: published()}
		client, err := mongo.Open(test1URI, mongo.Config{Resolver: z}, options.Client().SetDialer(resolving{}))
		if err != nil {
			t.Fatal(err)
		}
		wait(rescan + time.Second)
		began := time.Now()
		if err := client.Disconnect(context.Background()); err != nil || time.Since(began) > time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

// lateSilence is a zone whose second look-up of SRV records never answers.
type lateSilence struct {
	*zone
	looked bool
}

func (l *lateSilence) LookupSRV(ctx context.Context, service, proto, name string) (string, []*net.SRV, error) {
	if l.looked {
		return silentZone{}.LookupSRV(ctx, service, proto, name)
	}
	l.looked = true
	return l.zone.LookupSRV(ctx, service, proto, name)
}

// wait advances the fake clock by d.
func wait(d time.Duration) { <-time.After(d) }
