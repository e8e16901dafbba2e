package cluster

import (
	"slices"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
)

const anything = 42 // the suite's value for "any value"

// cmapSpec is one file of the suite.
type cmapSpec struct {
	Options struct {
		MaxPoolSize        uint64 `bson:"maxPoolSize"`
		MaxConnecting      uint64 `bson:"maxConnecting"`
		MinPoolSize        uint64 `bson:"minPoolSize"`
		MaxIdleTimeMS      int64  `bson:"maxIdleTimeMS"`
		WaitQueueTimeoutMS int64  `bson:"waitQueueTimeoutMS"`
	} `bson:"poolOptions"`
	FailPoint struct {
		Data struct {
			BlockTimeMS int64 `bson:"blockTimeMS"`
			ErrorCode   int32 `bson:"errorCode"`
		} `bson:"data"`
	} `bson:"failPoint"`
	Operations []cmapOperation `bson:"operations"`
	Events     []bson.M        `bson:"events"`
	Ignore     []string        `bson:"ignore"`
	Error      *struct {
		Type string `bson:"type"`
	} `bson:"error"`
}

type cmapOperation struct {
	Name       string `bson:"name"`
	Thread     string `bson:"thread"`
	Target     string `bson:"target"`
	Event      string `bson:"event"`
	Count      int    `bson:"count"`
	TimeoutMS  int64  `bson:"timeout"`
	MS         int64  `bson:"ms"`
	Label      string `bson:"label"`
	Connection string `bson:"connection"`
	Interrupt  bool   `bson:"interruptInUseConnections"`
}

func TestPublishedConnectionPool(t *testing.T) {
	runSuite(t, "connection-monitoring-and-pooling/tests/cmap-format", 33, nil, func(t *testing.T, spec cmapSpec) {
		synctest.Test(t, func(t *testing.T) {
			r := newCmapRun(t, &spec)
			err := r.operations(spec.Operations)
			synctest.Wait()
			got, _ := r.heard.all()
			spec.checkError(t, err)
			spec.checkEvents(t, got)
			r.cleanUp()
		})
	})
}

func (spec *cmapSpec) checkEvents(t *testing.T, all []event.PoolEvent) {
	t.Helper()
	got := slices.DeleteFunc(slices.Clone(all), func(e event.PoolEvent) bool { return slices.Contains(spec.Ignore, e.Type) })
	for i, want := range spec.Events {
		if i >= len(got) {
			t.Fatalf("event %d is missing: %v", i, want)
		}
		if difference := mismatch(got[i], want); difference != "" {
			t.Fatalf("event %d: %s of %+v, want %v", i, difference, got[i], want)
		}
	}
	if len(got) > len(spec.Events) {
		t.Fatalf("there are %d events, want %d: %+v", len(got), len(spec.Events), got[len(spec.Events):])
	}
}

// mismatch returns the name of a field that differs, or "".
func mismatch(got event.PoolEvent, want bson.M) string {
	for field, value := range want {
		same := false
		is42 := value == int32(anything)
		switch field {
		case "type":
			same = got.Type == value
		case "address":
			same = is42 && got.Address == addrA
		case "connectionId":
			same = got.ConnectionID > 0 && (is42 || int64(value.(int32)) == got.ConnectionID)
		case "duration":
			same = is42 && got.Duration >= 0
		case "reason":
			same = got.Reason == value
		case "interruptInUseConnections":
			same = got.Interruption == value
		case "options":
			same = got.PoolOptions != nil && (is42 || hasOptions(got.PoolOptions, value.(bson.D)))
		}
		if !same {
			return field
		}
	}
	return ""
}

// hasOptions reports whether an event's options have the wanted values. The official type has no maxIdleTimeMS.
func hasOptions(got *event.MonitorPoolOptions, want bson.D) bool {
	for _, e := range want {
		n, _ := e.Value.(int32)
		switch {
		case e.Key == "maxPoolSize" && got.MaxPoolSize != uint64(n), e.Key == "minPoolSize" && got.MinPoolSize != uint64(n):
			return false
		}
	}
	return true
}
