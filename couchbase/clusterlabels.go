package couchbase

import (
	"maps"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
)

// clusterLabels are the names of the cluster, empty before the first map and if the servers do not tell them.
type clusterLabels struct{ name, uuid string }

// clusterLabels returns the names of the cluster in its newest map.
func (c *Cluster) clusterLabels() clusterLabels { return labelsOf(c.cluster) }

func labelsOf(c *cluster.Cluster) clusterLabels {
	if s := c.Snapshot(); s != nil {
		return clusterLabels{s.Map.Cluster, s.Map.ClusterUUID}
	}
	return clusterLabels{}
}

// labellingTracer gives each span the names of the cluster (RFC 0067).
type labellingTracer struct {
	RequestTracer

	labels func() clusterLabels
}

// RequestSpan begins a span.
func (t *labellingTracer) RequestSpan(parentContext RequestSpanContext, operationName string) RequestSpan {
	span := t.RequestTracer.RequestSpan(parentContext, operationName)
	labels := t.labels()
	if labels.name != "" {
		span.SetAttribute(attributeClusterName, labels.name)
	}
	if labels.uuid != "" {
		span.SetAttribute(attributeClusterUUID, labels.uuid)
	}
	return span
}

// labellingMeter gives each measurement the names of the cluster.
type labellingMeter struct {
	Meter

	labels func() clusterLabels
}

// ValueRecorder returns a recorder.
func (m *labellingMeter) ValueRecorder(name string, tags map[string]string) (ValueRecorder, error) {
	labels := m.labels()
	if labels != (clusterLabels{}) {
		tags = maps.Clone(tags)
		for key, value := range map[string]string{attributeClusterName: labels.name, attributeClusterUUID: labels.uuid} {
			if value != "" {
				tags[key] = value
			}
		}
	}
	return m.Meter.ValueRecorder(name, tags)
}
