package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/internal/explore/couchbasefault"
	"github.com/holdfast-db/holdfast/internal/explore/mongofault"
)

// exploredDatabase is the database that the program uses: the failures that its servers can have, and what starts those of a run.
type exploredDatabase struct {
	failures []explore.Failure
	start    startSite
}

type startSite func(explore.Case) (explore.Site, environment, error)

// environment returns the variables that tell a program how to reach the servers. A failure may have changed their addresses.
type environment func() []string

// database returns the database of the flags.
func (c *exploreCommand) database(s *session) (d exploredDatabase, err error) {
	for _, f := range s.given {
		if f.Group != nil && f.Group.Key != c.Backend {
			return d, fmt.Errorf("--%s is for --backend %s", f.Name, f.Group.Key)
		}
	}
	if c.Backend == couchbaseBackend {
		unsafe := c.Failures != nil || c.Only != "" || c.ListFailures
		d, err = c.Couchbase.database(unsafe)
	} else {
		d, err = c.MongoDB.database()
	}
	if err != nil {
		return d, err
	}
	d.failures, err = c.chosen(d.failures)
	return d, err
}

// mongodbExplored is the flags that only the backend mongodb has.
type mongodbExplored struct {
	Standalone bool `help:"A standalone server instead of a replica set."`
	Members    *int `placeholder:"3" help:"The number of members of the replica set, 1 to 7."`
	Mongos     int  `help:"A sharded cluster with this number of mongos, and with one shard, the replica set. The URI names the mongos."`
}

func (c *mongodbExplored) database() (exploredDatabase, error) {
	settings := mongofault.Settings{Members: 3, Mongos: c.Mongos, Failures: mongofault.All()}
	if c.Members != nil {
		settings.Members = *c.Members
	}
	if err := checkSize(settings.Members, settings.Mongos); err != nil {
		return exploredDatabase{}, err
	}
	if c.Standalone {
		settings.Members = 0
	}
	if c.Standalone && (c.Members != nil || c.Mongos > 0) {
		return exploredDatabase{}, errors.New("--standalone excludes --members and --mongos")
	}
	return exploredDatabase{settings.Kinds(), func(one explore.Case) (explore.Site, environment, error) {
		site, err := mongofault.Start(settings, one)
		return site, func() []string { return []string{"MONGODB_URI=" + site.Deployment().URI()} }, err
	}}, settings.Check()
}

// couchbaseExplored is the flags that only the backend couchbase has.
type couchbaseExplored struct {
	Nodes  int      `default:"3" help:"The number of nodes."`
	Bucket []string `placeholder:"NAME" help:"A bucket, with one replica; may be repeated. Without it there is one, \"default\"."`
}

// database has also the failure that loses acknowledged writes if unsafe is true.
func (c *couchbaseExplored) database(unsafe bool) (exploredDatabase, error) {
	if c.Nodes < 1 || c.Nodes > maxNodes {
		return exploredDatabase{}, fmt.Errorf("--nodes is %d; it must be 1 to %d", c.Nodes, maxNodes)
	}
	buckets, err := c.buckets()
	if err != nil {
		return exploredDatabase{}, err
	}
	settings := couchbasefault.Settings{Nodes: c.Nodes, Server: []couchbasetest.Option{buckets}, Failures: couchbasefault.All()}
	if unsafe {
		settings.Failures = append(settings.Failures, couchbasefault.WriteLost)
	}
	return exploredDatabase{settings.Kinds(), func(one explore.Case) (explore.Site, environment, error) {
		site, err := couchbasefault.Start(settings, one)
		return site, func() []string { return clusterVariables(site.Cluster()) }, err
	}}, settings.Check()
}

// buckets returns the option of --bucket. A cluster in memory, which opens no port, says whether it can have them.
func (c *couchbaseExplored) buckets() (couchbasetest.Option, error) {
	names := c.Bucket
	if names == nil {
		names = []string{"default"}
	}
	var list []couchbasetest.Bucket
	for _, name := range names {
		list = append(list, couchbasetest.Bucket{Name: name, Replicas: 1, FlushEnabled: true})
	}
	option := couchbasetest.Buckets(list...)
	cluster, err := couchbasetest.Run(couchbasetest.InMemory(), option)
	if err != nil {
		return nil, fmt.Errorf("--bucket: %s", strings.TrimPrefix(err.Error(), "couchbasetest: "))
	}
	return option, cluster.Close()
}

// clusterVariables returns the variables that tell a program how to reach a cluster.
func clusterVariables(c *couchbasetest.Cluster) []string {
	return []string{
		"COUCHBASE_CONNSTR=" + c.ConnectionString(), "COUCHBASE_USERNAME=" + c.Username(), "COUCHBASE_PASSWORD=" + c.Password(),
	}
}
