package cluster

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/logging"
	"github.com/holdfast-db/holdfast/telemetry"
)

// selectionLogged returns the tracer that writes the messages of Server Selection, "Logging"; nil if the log does not have them.
func selectionLogged(log *logging.Logger) *telemetry.Tracer {
	if !log.Enabled(logging.ServerSelection, logging.Info) {
		return nil
	}
	return &telemetry.Tracer{
		SelectionBegan: func(ctx context.Context, s *telemetry.Selection) context.Context {
			logSelection(log, logging.Debug, "Server selection started", s)
			return ctx
		},
		SelectionWaits: func(_ context.Context, s *telemetry.Selection, atMost time.Duration) {
			if !s.WaitedBefore { // once for an operation
				logSelection(log, logging.Info, "Waiting for suitable server to become available", s, "remainingTimeMS", logging.Milliseconds(atMost))
			}
		},
		SelectionEnded: func(_ context.Context, s *telemetry.Selection, r *telemetry.Selected) {
			var failed *SelectionError
			switch {
			case r.Err == nil:
				logSelection(log, logging.Debug, "Server selection succeeded", s, logging.Endpoint(nil, r.Address)...)
			case errors.As(r.Err, &failed): // without its explanation, which is in the other fields
				logSelection(log, logging.Debug, "Server selection failed", s, "failure", failed.Err.Error())
			default:
				logSelection(log, logging.Debug, "Server selection failed", s, "failure", r.Err.Error())
			}
		},
	}
}

func logSelection(log *logging.Logger, level options.LogLevel, message string, s *telemetry.Selection, fields ...any) {
	if !log.Enabled(logging.ServerSelection, level) {
		return
	}
	fields = append(fields, "selector", s.Selector(), "operation", s.Name, "topologyDescription", s.Topology())
	if s.OperationID != 0 {
		fields = append(fields, "operationId", s.OperationID)
	}
	log.Log(logging.ServerSelection, level, message, fields...)
}
