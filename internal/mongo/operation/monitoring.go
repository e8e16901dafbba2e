package operation

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/telemetry"
)

// monitored returns the tracer that publishes the events of commands (Command Logging and Monitoring), nil without a listener.
func monitored(m *event.CommandMonitor) *telemetry.Tracer {
	if m == nil {
		return nil
	}
	t := new(telemetry.Tracer)
	if m.Started != nil {
		t.AttemptBegan = func(ctx context.Context, a *telemetry.Attempt) context.Context {
			m.Started(ctx, &event.CommandStartedEvent{
				Command: a.Command(), CommandName: a.Name, DatabaseName: a.Namespace, RequestID: a.RequestID,
				ConnectionID: a.Connection.Name, ServerConnectionID: a.Connection.ServerID, ServiceID: serviceID(a),
			})
			return ctx
		}
	}
	if m.Succeeded != nil || m.Failed != nil {
		t.AttemptEnded = func(ctx context.Context, a *telemetry.Attempt, r *telemetry.Result) { finished(ctx, m, a, r) }
	}
	return t
}

// finished publishes the event CommandSucceeded or CommandFailed.
func finished(ctx context.Context, m *event.CommandMonitor, a *telemetry.Attempt, r *telemetry.Result) {
	common := event.CommandFinishedEvent{
		Duration: r.Took, CommandName: a.Name, DatabaseName: a.Namespace, RequestID: a.RequestID,
		ConnectionID: a.Connection.Name, ServerConnectionID: a.Connection.ServerID, ServiceID: serviceID(a),
	}
	switch {
	case r.Err != nil && m.Failed != nil:
		m.Failed(ctx, &event.CommandFailedEvent{CommandFinishedEvent: common, Failure: r.Err})
	case r.Err == nil && m.Succeeded != nil:
		m.Succeeded(ctx, &event.CommandSucceededEvent{CommandFinishedEvent: common, Reply: r.Reply()})
	}
}

// serviceID returns the id of the service behind a load balancer, nil if there is none.
func serviceID(a *telemetry.Attempt) *bson.ObjectID {
	id, err := bson.ObjectIDFromHex(a.Connection.Service)
	if err != nil {
		return nil
	}
	return &id
}
