package operation

import (
	"context"

	"github.com/holdfast-db/holdfast/internal/mongo/logging"
	"github.com/holdfast-db/holdfast/telemetry"
)

// logged returns the tracer that writes commands to the log, nil if the log does not have them.
func logged(log *logging.Logger) *telemetry.Tracer {
	if !log.Enabled(logging.Command, logging.Debug) {
		return nil
	}
	return &telemetry.Tracer{
		AttemptBegan: func(ctx context.Context, a *telemetry.Attempt) context.Context {
			logCommand(log, a, "Command started", "command", log.Document(a.Command()))
			return ctx
		},
		AttemptEnded: func(_ context.Context, a *telemetry.Attempt, r *telemetry.Result) {
			took := logging.Milliseconds(r.Took)
			if r.Err != nil {
				logCommand(log, a, "Command failed", "durationMS", took, "failure", r.Err.Error())
				return
			}
			logCommand(log, a, "Command succeeded", "durationMS", took, "reply", log.Document(r.Reply()))
		},
	}
}

// logCommand writes a message with the fields that all messages about a command have.
func logCommand(log *logging.Logger, a *telemetry.Attempt, message string, fields ...any) {
	fields = append(fields, "commandName", a.Name, "databaseName", a.Namespace, "requestId", a.RequestID,
		"operationId", a.OperationID, "driverConnectionId", a.Connection.ID)
	if id := a.Connection.ServerID; id != nil {
		fields = append(fields, "serverConnectionId", *id)
	}
	if id := a.Connection.Service; id != "" {
		fields = append(fields, "serviceId", id)
	}
	log.Log(logging.Command, logging.Debug, message, logging.Endpoint(fields, a.Connection.Address)...)
}
