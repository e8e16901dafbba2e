package clustermap

import (
	"errors"
	"strings"
	"testing"
)

// bucketMap is the map of a bucket of four vbuckets on two nodes of three; the third has query only.
const bucketMap = `{"rev":9,"revEpoch":2,"name":"b","uuid":"u1","nodeLocator":"vbucket",
 "bucketCapabilities":["collections","durableWrite"],
 "clusterCapabilitiesVer":[1,0],"clusterCapabilities":{"n1ql":["enhancedPreparedStatements"]},
 "nodes":[{"hostname":"$HOST:8091","ports":{"direct":11210}},{"hostname":"h2:8091","ports":{"direct":11210}}],
 "nodesExt":[
  {"thisNode":true,"nodeUUID":"n1","serverGroup":"west","services":{"kv":11210,"kvSSL":11207,"mgmt":8091},
   "alternateAddresses":{"external":{"hostname":"out1","ports":{"kv":31210}}}},
  {"hostname":"h2","services":{"kv":11210,"kvSSL":11207,"mgmt":8091,"capi":8092},"alternateAddresses":{"external":{"hostname":"out2"}}},
  {"hostname":"fd00::3","services":{"n1ql":8093,"n1qlSSL":18093,"fts":8094,"cbas":8095}}],
 "vBucketServerMap":{"hashAlgorithm":"CRC","numReplicas":1,"serverList":["$HOST:11210","h2:11210"],
  "vBucketMap":[[0,1],[1,0],[0],[-1,7]],"vBucketMapForward":[[1,0],[1,0],[0,1],[0,1]]}}`

// clusterMap is the map of a cluster alone.
const clusterMap = `{"rev":3,"revEpoch":2,"nodesExt":[{"services":{"kv":11210,"mgmt":8091},"hostname":"h1"}]}`

func parse(t testing.TB, text string) *Map {
	t.Helper()
	m, err := Parse([]byte(text), "h1")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTheNodesOfVBuckets(t *testing.T) {
	m := parse(t, bucketMap)
	if m.VBuckets() != 4 || m.Replicas != 1 || !m.HasBucket() || m.Bucket != "b" || m.UUID != "u1" || m.Version.Epoch != 2 || m.Version.Revision != 9 {
		t.Errorf("%+v", m)
	}
	for _, c := range []struct {
		name                     string
		vbucket                  uint16
		active, replica, forward int
	}{
		{"as it is written", 0, 0, 1, 1},
		{"the other way round", 1, 1, 0, 1},
		{"a short row", 2, 0, None, 0},
		{"no server, and an index that no node has", 3, None, None, 0},
		{"a vbucket that there is not", 4, None, None, None},
		{"the largest vbucket", 65535, None, None, None},
	} {
		if a, r, f := m.Active(c.vbucket), m.Replica(c.vbucket, 0), m.Forward(c.vbucket); a != c.active || r != c.replica || f != c.forward {
			t.Errorf("%s: active %d, replica %d, forward %d", c.name, a, r, f)
		}
		for _, replica := range []int{-1, 1, 2} {
			if r := m.Replica(c.vbucket, replica); r != None {
				t.Errorf("%s: the replica %d is on %d", c.name, replica, r)
			}
		}
	}
	alone := parse(t, clusterMap)
	if alone.HasBucket() || alone.VBuckets() != 0 || alone.Active(0) != None || alone.Forward(0) != None || alone.Nodes[0].HasData {
		t.Errorf("%+v", alone)
	}
	if m.Forward(0) == None || parse(t, strings.Replace(bucketMap, "vBucketMapForward", "unused", 1)).Forward(0) != None {
		t.Error("the forward map")
	}
}

func TestTheAddressesOfNodes(t *testing.T) {
	m := parse(t, bucketMap)
	for _, c := range []struct {
		node    int
		network string
		service Service
		tls     bool
		want    string
	}{
		{0, DefaultNetwork, KeyValue, false, "h1:11210"}, // the host that the map was read from
		{0, DefaultNetwork, KeyValue, true, "h1:11207"},
		{0, "external", KeyValue, false, "out1:31210"},
		{0, "external", KeyValue, true, ""},
		{0, "external", Management, false, ""},
		{1, "external", KeyValue, true, "out2:11207"}, // without ports of its own
		{1, DefaultNetwork, Views, false, "h2:8092"},
		{2, DefaultNetwork, Query, true, "[fd00::3]:18093"},
		{2, "external", Query, false, "[fd00::3]:8093"}, // it has no address there
		{2, DefaultNetwork, Search, false, "[fd00::3]:8094"},
		{2, DefaultNetwork, Analytics, false, "[fd00::3]:8095"},
		{2, DefaultNetwork, KeyValue, false, ""},
		{2, DefaultNetwork, services, false, ""},
		{2, DefaultNetwork, -1, false, ""},
	} {
		if got, ok := m.Nodes[c.node].Address(c.network, c.service, c.tls); got != c.want || ok != (c.want != "") {
			t.Errorf("node %d, %s, %v, TLS %t: %q, want %q", c.node, c.network, c.service, c.tls, got, c.want)
		}
	}
	if host := m.Nodes[0].Host("external"); host != "out1" {
		t.Error(host)
	}
	if n := m.Nodes[0]; n.UUID != "n1" || n.Group != "west" || !n.HasData || m.Nodes[2].HasData {
		t.Errorf("%+v", m.Nodes)
	}
	hosts := parse(t, `{"nodesExt":[{"hostname":"$HOST","services":{"kv":1}},{"hostname":"[::1]","services":{"kv":2}}]}`)
	for i, want := range []string{"h1:1", "[::1]:2"} {
		if got, _ := hosts.Nodes[i].Address(DefaultNetwork, KeyValue, false); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestWhichNodesOfferAService(t *testing.T) {
	m := parse(t, bucketMap)
	for _, c := range []struct {
		network string
		service Service
		tls     bool
		want    []int
	}{
		{DefaultNetwork, KeyValue, false, []int{0, 1}},
		{DefaultNetwork, Query, true, []int{2}},
		{DefaultNetwork, Views, true, nil},
		{"external", Management, false, []int{1}},
	} {
		got := m.Offering(c.network, c.service, c.tls)
		if len(got) != len(c.want) || len(got) > 0 && (got[0] != c.want[0] || got[len(got)-1] != c.want[len(got)-1]) {
			t.Errorf("%s, %v: %v, want %v", c.network, c.service, got, c.want)
		}
	}
}

func TestWhichNetworkAClientIsIn(t *testing.T) {
	m := parse(t, bucketMap)
	for _, c := range []struct {
		host string
		port int
		want string
	}{
		{"h1", 11210, DefaultNetwork},
		{"h2", 0, DefaultNetwork},
		{"out1", 31210, "external"},
		{"out2", 11207, "external"},
		{"h1", 31210, DefaultNetwork}, // no node has it anywhere
		{"elsewhere", 11210, DefaultNetwork},
	} {
		if got := m.Network(c.host, c.port); got != c.want {
			t.Errorf("%s:%d: %s, want %s", c.host, c.port, got, c.want)
		}
	}
}

func TestTheNamesOfTheCluster(t *testing.T) {
	for _, c := range []struct{ text, name, uuid string }{
		{`{"rev":1,"nodesExt":[],"clusterName":"n","clusterUUID":"u"}`, "n", "u"},
		{`{"rev":1,"nodesExt":[]}`, "", ""},
	} {
		if m := parse(t, c.text); m.Cluster != c.name || m.ClusterUUID != c.uuid {
			t.Errorf("%s: %q, %q", c.text, m.Cluster, m.ClusterUUID)
		}
	}
}

func TestTheCapabilities(t *testing.T) {
	m := parse(t, bucketMap)
	if !m.BucketCan("collections") || m.BucketCan("rangeScan") || !m.ClusterCan("n1ql", "enhancedPreparedStatements") || m.ClusterCan("search", "enhancedPreparedStatements") {
		t.Errorf("%+v", m)
	}
}

func TestWhichMapTakesThePlaceOfAnother(t *testing.T) {
	with := func(pairs ...string) *Map { return parse(t, strings.NewReplacer(pairs...).Replace(bucketMap)) }
	bucket, alone := with(), parse(t, clusterMap)
	const newer = `"rev":10`
	for _, c := range []struct {
		name     string
		old, new *Map
		want     string
	}{
		{"the first", nil, bucket, ""},
		{"the same", bucket, bucket, "not newer"},
		{"a newer revision", bucket, with(`"rev":9`, newer), ""},
		{"an older revision", bucket, with(`"rev":9`, `"rev":8`), "not newer"},
		{"a newer epoch with an older revision", bucket, with(`"rev":9`, `"rev":1`, `"revEpoch":2`, `"revEpoch":3`), ""},
		{"an older epoch with a newer revision", bucket, with(`"rev":9`, newer, `"revEpoch":2`, `"revEpoch":1`), "not newer"},
		{"no epoch", bucket, with(`"rev":9`, newer, `"revEpoch":2,`, ``), "not newer"},
		{"a negative epoch", bucket, with(`"rev":9`, newer, `"revEpoch":2`, `"revEpoch":-1`), "not newer"},
		{"a bucket, after the cluster alone, though older", parse(t, strings.Replace(clusterMap, `"rev":3`, `"rev":30`, 1)), bucket, ""},
		{"the cluster alone, after a bucket", bucket, parse(t, strings.Replace(clusterMap, `"rev":3`, `"rev":30`, 1)), "cluster alone"},
		{"a newer map of the cluster alone", alone, parse(t, strings.Replace(clusterMap, `"rev":3`, `"rev":4`, 1)), ""},
		{"another bucket", bucket, with(`"rev":9`, newer, `"name":"b"`, `"name":"c"`), "bucket c"},
		{"another number of vbuckets", bucket, with(`"rev":9`, newer, `,[-1,7]`, ``, `,[0,1]],"vBucketMapForward"`, `],"vBucketMapForward"`, `,[0,1],[0,1]]}`, `,[0,1]]}`), "3 vbuckets"},
		{"the bucket that was created again", bucket, with(`"rev":9`, newer, `"uuid":"u1"`, `"uuid":"u2"`, `,[-1,7]`, ``, `,[0,1],[0,1]]}`, `,[0,1]]}`), ""},
	} {
		err := c.new.Supersedes(c.old)
		switch {
		case (err == nil) != (c.want == ""), err != nil && !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		case IsNotNewer(err) != (c.want == "not newer"):
			t.Errorf("%s: IsNotNewer is %t", c.name, IsNotNewer(err))
		}
	}
}

func TestWhichMapsAreMalformed(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":                            `{`,
		"an array":                           `[]`,
		"more nodes with data than nodes":    `{"name":"b","nodes":[{},{}],"nodesExt":[{}]}`,
		"vbuckets without a bucket":          `{"nodesExt":[{}],"vBucketServerMap":{"vBucketMap":[[0]]}}`,
		"a negative number of replicas":      `{"name":"b","vBucketServerMap":{"numReplicas":-1}}`,
		"more than three replicas":           `{"name":"b","vBucketServerMap":{"numReplicas":4}}`,
		"a forward map of another length":    `{"name":"b","vBucketServerMap":{"vBucketMap":[[0],[0]],"vBucketMapForward":[[0]]}}`,
		"more than 32,768 vbuckets":          `{"name":"b","vBucketServerMap":{"vBucketMap":[` + strings.Repeat("[],", MaxVBuckets) + `[]]}}`,
		"a port of 17 bits":                  `{"nodesExt":[{"services":{"kv":65536}}]}`,
		"a negative port":                    `{"nodesExt":[{"services":{"kvSSL":-1}}]}`,
		"a hostname that is a URL":           `{"nodesExt":[{"hostname":"http://h"}]}`,
		"a hostname with a port":             `{"nodesExt":[{"hostname":"h:1"}]}`,
		"an alternate hostname with a space": `{"nodesExt":[{"alternateAddresses":{"x":{"hostname":"a b"}}}]}`,
		"a node index that is no number":     `{"name":"b","vBucketServerMap":{"vBucketMap":[["0"]]}}`,
	} {
		if m, err := Parse([]byte(text), "h1"); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

func FuzzMap(f *testing.F) {
	f.Add([]byte(bucketMap), uint16(3))
	f.Add([]byte(clusterMap), uint16(0))
	f.Fuzz(func(t *testing.T, b []byte, vbucket uint16) {
		m, err := Parse(b, "h1")
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Error(err)
			}
			return
		}
		for _, node := range []int{m.Active(vbucket), m.Replica(vbucket, 0), m.Replica(vbucket, 2), m.Forward(vbucket)} {
			if node != None && (node < 0 || node >= len(m.Nodes) || !m.Nodes[node].HasData) {
				t.Errorf("vbucket %d is on the node %d", vbucket, node)
			}
		}
		if err := m.Supersedes(m); !IsNotNewer(err) && (m.Bucket != "" || err != nil) {
			t.Errorf("it supersedes itself: %v", err)
		}
		for s := range services {
			for _, i := range m.Offering(m.Network("h1", 0), s, false) {
				if _, ok := m.Nodes[i].Address(m.Network("h1", 0), s, false); !ok {
					t.Errorf("the node %d offers %v without an address", i, s)
				}
			}
		}
	})
}

func TestLiveCopies(t *testing.T) {
	for name, c := range map[string]struct {
		m    Map
		want int
	}{
		"all":                        {Map{Replicas: 2, vbuckets: table{3, []int16{0, 1, 2}}}, 3},
		"a replica has no node":      {Map{Replicas: 2, vbuckets: table{3, []int16{0, None, 2}}}, 2},
		"the active one has no node": {Map{Replicas: 1, vbuckets: table{2, []int16{None, 1}}}, 1},
		"no replicas":                {Map{vbuckets: table{1, []int16{0}}}, 1},
		"no vbuckets":                {Map{Replicas: 1}, 2},
	} {
		if got := c.m.LiveCopies([]byte("a")); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
