package mockcontrol

import (
	"net/http"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

// state describes the cluster.
func (c *control) state(r *http.Request) (any, error) {
	if err := onlyParameters(r); err != nil {
		return nil, err
	}
	s := c.cluster.State()
	nodes, buckets := make([]any, 0, len(s.Nodes)), make([]any, 0, len(s.Buckets))
	for i := range s.Nodes {
		nodes = append(nodes, nodeJSON(i, &s.Nodes[i]))
	}
	for _, b := range s.Buckets {
		buckets = append(buckets, struct {
			Name      string `json:"name"`
			Replicas  int    `json:"replicas"`
			Ephemeral bool   `json:"ephemeral"`
		}{b.Name, b.Replicas, b.Ephemeral})
	}
	return struct {
		ConnectionString string `json:"connectionString"`
		Username         string `json:"username"`
		Password         string `json:"password"`
		Certificate      string `json:"certificate,omitempty"`
		Rebalancing      bool   `json:"rebalancing"`
		Nodes            []any  `json:"nodes"`
		Buckets          []any  `json:"buckets"`
	}{
		c.cluster.ConnectionString(), c.cluster.Username(), c.cluster.Password(), string(c.cluster.CACertificate()),
		s.Rebalancing, nodes, buckets,
	}, nil
}

func nodeJSON(number int, n *couchbasetest.NodeState) any {
	return struct {
		Node       int               `json:"node"`
		Member     bool              `json:"member"`
		FailedOver bool              `json:"failedOver"`
		Up         bool              `json:"up"`
		Paused     bool              `json:"paused"`
		BlackHoled bool              `json:"blackHoled"`
		Isolated   bool              `json:"isolated"`
		Addresses  map[string]string `json:"addresses"`
	}{number, n.Member, n.FailedOver, n.Up, n.Paused, n.BlackHoled, n.Isolated, n.Addresses}
}

// addNode adds a node to the cluster.
func (c *control) addNode(r *http.Request) (any, error) {
	if err := read(r, &struct{}{}); err != nil {
		return nil, err
	}
	n, err := c.cluster.AddNode()
	if err != nil {
		return nil, refused(err)
	}
	return nodeJSON(n, &c.cluster.State().Nodes[n]), nil
}

// nodeActions are the commands for one node.
var nodeActions = map[string]func(*couchbasetest.Cluster, int) error{
	"kill":              always((*couchbasetest.Cluster).Kill),
	"restart":           always((*couchbasetest.Cluster).Restart),
	"pause":             always((*couchbasetest.Cluster).Pause),
	"resume":            always((*couchbasetest.Cluster).Resume),
	"black-hole":        always((*couchbasetest.Cluster).BlackHole),
	"isolate":           always((*couchbasetest.Cluster).Isolate),
	"heal":              always((*couchbasetest.Cluster).Heal),
	"hold-manifests":    always((*couchbasetest.Cluster).HoldManifests),
	"release-manifests": always((*couchbasetest.Cluster).ReleaseManifests),
	"failover":          (*couchbasetest.Cluster).Failover,
	"graceful-failover": (*couchbasetest.Cluster).GracefulFailover,
	"add-back":          (*couchbasetest.Cluster).AddBack,
}

// always makes an action that cannot fail one that returns an error.
func always(act func(*couchbasetest.Cluster, int)) func(*couchbasetest.Cluster, int) error {
	return func(c *couchbasetest.Cluster, node int) error {
		act(c, node)
		return nil
	}
}

// onNode executes a command for the node that the URL names, and returns the node's state.
func (c *control) onNode(r *http.Request, act func(*couchbasetest.Cluster, int) error) (any, error) {
	node, err := c.nodeOf(r)
	if err != nil {
		return nil, err
	}
	if err := read(r, &struct{}{}); err != nil {
		return nil, err
	}
	if err := act(c.cluster, node); err != nil {
		return nil, refused(err)
	}
	return nodeJSON(node, &c.cluster.State().Nodes[node]), nil
}

// change changes settings of the cluster. A setting that is not there stays.
func (c *control) change(r *http.Request) (any, error) {
	var body struct {
		ReplicationLag string `json:"replicationLag"`
		PersistenceLag string `json:"persistenceLag"`
		BareRefusals   *bool  `json:"bareRefusals"`
	}
	if err := read(r, &body); err != nil {
		return nil, err
	}
	var replication, persistence time.Duration
	err := durations(fieldDuration{"replicationLag", body.ReplicationLag, &replication}, fieldDuration{"persistenceLag", body.PersistenceLag, &persistence})
	if err != nil {
		return nil, err
	}
	if body.ReplicationLag != "" {
		c.cluster.SetReplicationLag(replication)
	}
	if body.PersistenceLag != "" {
		c.cluster.SetPersistenceLag(persistence)
	}
	if body.BareRefusals != nil {
		c.cluster.SetBareRefusals(*body.BareRefusals)
	}
	return nil, nil
}
