package retold

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/telemetry"
)

var errLost, errWhole = errors.New("lost"), errors.New("the whole operation")

func TestDecision(t *testing.T) {
	failure := retry.Failure{Err: errLost, Endpoint: "a:1", Stage: retry.StageInFlight, Reason: retry.ReasonNetworkError}
	event := func(kind retry.EventKind, stop retry.StopReason, err error) retry.Event {
		return retry.Event{Kind: kind, Attempt: 2, Err: err, Record: retry.Record{Failure: failure, StopReason: stop, Delay: time.Second}}
	}
	told := telemetry.Decision{Attempt: 2, Address: "a:1", Stage: "in flight", Reason: "NETWORK_ERROR", Delay: time.Second}
	again, ended := told, told
	again.Err = errLost
	ended.Err, ended.StopReason = errWhole, "budget empty"
	for name, c := range map[string]struct {
		event retry.Event
		want  *telemetry.Decision
	}{
		"an attempt failed":      {event(retry.EventAttemptFailed, retry.StopNone, nil), nil},
		"there will be another":  {event(retry.EventDecided, retry.NotStopped, nil), &again},
		"there will be no other": {event(retry.EventDecided, retry.StopBudgetEmpty, nil), nil}, // the end says so
		"the end":                {event(retry.EventEnded, retry.StopBudgetEmpty, errWhole), &ended},
		"a success":              {event(retry.EventEnded, retry.StopNone, nil), nil},
	} {
		if got := Decision(&c.event); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

type heard struct {
	name  string
	names *[]string
}

func (h heard) Observe(context.Context, retry.Event) {
	*h.names = append(*h.names, h.name)
	if h.name == "panics" {
		panic("an observer")
	}
}

func TestBoth(t *testing.T) {
	var names []string
	a, panics, b := heard{"a", &names}, heard{"panics", &names}, heard{"b", &names}
	if Both(nil, nil) != nil || Both(a, nil) != a || Both(nil, b) != b {
		t.Error("an observer was made of one, or of none")
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is lost")
			}
		}()
		Both(Both(a, panics), b).Observe(t.Context(), retry.Event{})
	}()
	if want := []string{"a", "panics", "b"}; !slices.Equal(names, want) {
		t.Errorf("these were told: %v", names)
	}
}
