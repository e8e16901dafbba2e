package couchbase

import (
	"maps"
	"strconv"
)

// ObservabilitySemanticConvention names a set of names for what a [RequestTracer] and a [Meter] are told.
type ObservabilitySemanticConvention uint8

// The sets. Without one the names are the old ones.
const (
	// ObservabilitySemanticConventionDatabase has the names of OpenTelemetry's stable conventions for databases (RFC 0067) in place of the
	// old ones.
	ObservabilitySemanticConventionDatabase ObservabilitySemanticConvention = iota + 1
	// ObservabilitySemanticConventionDatabaseDup has both, for the time of a change. It wins over the other one.
	ObservabilitySemanticConventionDatabaseDup
)

// ObservabilityConfig configures what the Tracer and the Meter are told.
type ObservabilityConfig struct {
	// SemanticConventionOptIn are the names of attributes and measurements. Empty means the old names.
	SemanticConventionOptIn []ObservabilitySemanticConvention
}

// conventions are the names that are used.
type conventions struct{ old, stable bool }

// conventions returns the names that the configuration asks for.
func (c *ObservabilityConfig) conventions() (conventions, error) {
	chosen := conventions{old: true}
	both := false
	for _, name := range c.SemanticConventionOptIn {
		switch name {
		case ObservabilitySemanticConventionDatabase:
			chosen = conventions{stable: true}
		case ObservabilitySemanticConventionDatabaseDup:
			both = true
		default:
			return conventions{}, invalid("ObservabilityConfig.SemanticConventionOptIn has %d, which does not exist", name)
		}
	}
	if both {
		chosen = conventions{old: true, stable: true}
	}
	return chosen, nil
}

// tracer returns a tracer with these names around one that is told the old ones.
func (c conventions) tracer(of RequestTracer) RequestTracer {
	if !c.stable {
		return of
	}
	return &namingTracer{of, c}
}

// meter returns a meter with these names around one that is told the old ones.
func (c conventions) meter(of Meter) Meter {
	if !c.stable {
		return of
	}
	return &namingMeter{of, c}
}

// stableNames has the stable name of each attribute whose value stays.
var stableNames = map[string]string{
	attributeSystem: "db.system.name", attributeService: stableService, attributeBucket: "db.namespace", attributeScope: "couchbase.scope.name",
	attributeCollection: "couchbase.collection.name", attributeClusterName: "couchbase.cluster.name", attributeClusterUUID: "couchbase.cluster.uuid",
	attributeRetries: "couchbase.retries", attributeOperationID: stableOperationID,
	attributeLocalID: stableLocalID, attributeServerDuration: stableServerDuration, attributePeerName: stablePeerName,
}

// The stable names (RFC 0067) of attributes that have no old one, or whose values are others.
const (
	stableOperation      = "db.operation.name"
	stableService        = "couchbase.service"
	stableOperationID    = "couchbase.operation_id"
	stableLocalID        = "couchbase.local_id"
	stableServerDuration = "couchbase.server_duration"
	stablePeerName       = "network.peer.address"
	stablePeerPort       = "network.peer.port"
	stableOperations     = "db.client.operation.duration"
)

// stableDurability has the stable names of the levels of durability.
var stableDurability = map[string]string{
	"majority": "majority", "majorityAndPersistActive": "majority_and_persist_active", "persistToMajority": "persist_majority",
}

// namingTracer gives attributes their stable names.
type namingTracer struct {
	RequestTracer

	conventions
}

// RequestSpan begins a span. An operation has its name as an attribute too.
func (t *namingTracer) RequestSpan(parentContext RequestSpanContext, operationName string) RequestSpan {
	span := &namingSpan{t.RequestTracer.RequestSpan(parentContext, operationName), t.conventions}
	if operationName != spanDispatch && operationName != spanEncoding {
		span.RequestSpan.SetAttribute(stableOperation, operationName)
	}
	return span
}

type namingSpan struct {
	RequestSpan

	conventions
}

// SetAttribute is called with the old names, and with the stable name of what has no old one.
func (s *namingSpan) SetAttribute(key string, value any) {
	if s.old && !isStableOnly(key) {
		s.RequestSpan.SetAttribute(key, value)
	}
	if name, translated, ok := stableAttribute(key, value); ok {
		s.RequestSpan.SetAttribute(name, translated)
	}
}

// The attributes that only the stable names have. Others than namingSpan are not told them.
const (
	stableServerAddress = "server.address"
	stableServerPort    = "server.port"
	stableStatement     = "db.query.text"
)

func isStableOnly(key string) bool {
	return key == stableServerAddress || key == stableServerPort || key == stableStatement
}

// stableAttribute returns an attribute with its stable name. It reports false if there is none.
func stableAttribute(key string, value any) (name string, translated any, ok bool) {
	text, _ := value.(string)
	switch key {
	case attributeTransport:
		return "network.transport", "tcp", true
	case attributeDurability:
		translated, ok = stableDurability[text]
		return "couchbase.durability", translated, ok
	case attributePeerPort, stableServerPort:
		if name = key; key == attributePeerPort {
			name = stablePeerPort
		}
		port, err := strconv.Atoi(text)
		return name, port, err == nil
	case stableServerAddress, stableStatement:
		return key, value, true
	}
	name, ok = stableNames[key]
	return name, value, ok
}

// stableOnly gives a span an attribute that has no old name, if the stable names are used.
func stableOnly(s RequestSpan, key, value string) {
	if s, ok := s.(*namingSpan); ok {
		s.SetAttribute(key, value)
	}
}

// namingMeter gives measurements their stable names.
type namingMeter struct {
	Meter

	conventions
}

// ValueRecorder returns a recorder for both names of a measurement, or for the stable one.
func (m *namingMeter) ValueRecorder(name string, tags map[string]string) (ValueRecorder, error) {
	if name != meterOperations {
		return m.Meter.ValueRecorder(name, tags)
	}
	stable, err := m.Meter.ValueRecorder(stableOperations, stableTags(tags))
	if err != nil || !m.old {
		return stable, err
	}
	old, err := m.Meter.ValueRecorder(name, tags)
	return twoRecorders{old, stable}, err
}

// stableTags returns the tags of the measurement of an operation with their stable names. The unit is that of the name: who passes the
// values on to OpenTelemetry makes seconds of the microseconds that are recorded.
func stableTags(old map[string]string) map[string]string {
	tags := map[string]string{"db.system.name": "couchbase", "__unit": "s"}
	for key, value := range old {
		switch key {
		case attributeOperation:
			tags[stableOperation] = value
		case tagOutcome:
			maps.Copy(tags, errorTag(value))
		default:
			if name := stableNames[key]; name != "" && value != "" {
				tags[name] = value
			}
		}
	}
	return tags
}

// errorType returns the name of an error by RFC 0067.
func errorType(err error) string {
	name := kvOutcome(err)
	if name == outcomeOther {
		name = outcome(err)
	}
	return errorTag(name)["error.type"]
}

// errorTag returns the tag of an outcome that is an error.
func errorTag(outcome string) map[string]string {
	switch outcome {
	case outcomeSuccess:
		return nil
	case outcomeOther:
		return map[string]string{"error.type": "_OTHER"}
	}
	return map[string]string{"error.type": outcome}
}

// twoRecorders record each value twice. One that is nil is left out, as everywhere.
type twoRecorders [2]ValueRecorder

// RecordValue records a value twice.
func (r twoRecorders) RecordValue(v uint64) {
	for _, recorder := range r {
		if recorder != nil {
			recorder.RecordValue(v)
		}
	}
}
