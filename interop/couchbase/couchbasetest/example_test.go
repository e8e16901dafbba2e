package couchbasetest

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/couchbase/gocb/v2"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

func TestIncrementSurvivesAFailover(t *testing.T) {
	cluster := couchbasetest.RunT(t, couchbasetest.Nodes(3))
	client, err := gocb.Connect(cluster.ConnectionString(), gocb.ClusterOptions{Username: cluster.Username(), Password: cluster.Password()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(nil)
	counters := client.Bucket("default").DefaultCollection().Binary()
	one := &gocb.IncrementOptions{Initial: 1, Delta: 1, DurabilityLevel: gocb.DurabilityLevelMajority, Timeout: 10 * time.Second}
	if _, err := counters.Increment("n", one); err != nil {
		t.Fatal(err)
	}
	failed := cluster.Owners("default", "n")[0]
	if err := cluster.Failover(failed); err != nil { // the replica becomes the owner
		t.Fatal(err)
	}
	cluster.Use(couchbasetest.AnyOpcode, couchbasetest.Times(2, couchbasetest.Fault{Status: 0x86})) // temporary failures
	result, err := counters.Increment("n", &gocb.IncrementOptions{Initial: 1, Delta: 1, Timeout: 10 * time.Second})
	if err != nil || result.Content() != 2 {
		t.Errorf("the counter is %v, %v; want 2", result, err)
	}
}

func TestTheREADMEsExampleIsTheTestOfThisFile(t *testing.T) {
	readme, err := os.ReadFile("../../../couchbasetest/README.md")
	must(t, "ReadFile", err, nil)
	source, err := os.ReadFile("example_test.go")
	must(t, "ReadFile", err, nil)
	_, example, _ := strings.Cut(string(readme), "```go\n")
	example, _, _ = strings.Cut(example, "```\n")
	if len(example) < 500 || !strings.Contains(string(source), "\n"+example) {
		t.Errorf("the example is not in example_test.go:\n%s", example)
	}
}
