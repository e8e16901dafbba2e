package mongo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/logging"
)

// streamOutage is the time in which a change stream cannot resume. It makes that time heard.
type streamOutage struct {
	began    time.Time // when the first attempt to resume failed
	told     time.Time // when the latest message at level info was written; zero: none was
	failures int
}

// outageMessages is the time between two messages at level info.
const outageMessages = time.Minute

// failed notes an attempt to resume that failed and after which there is another one, and writes a message: at level info for the first
// one and once a minute, else at level debug.
func (o *streamOutage) failed(a *aggregation, err error) {
	now, level := time.Now(), logging.Debug
	if o.failures++; o.failures == 1 {
		o.began = now
	}
	if now.Sub(o.told) >= outageMessages {
		o.told, level = now, logging.Info
	}
	o.log(a, level, "Change stream not resumed", "failure", err.Error())
}

// ended writes a message if there were failures: the stream has resumed.
func (o *streamOutage) ended(a *aggregation) {
	if o.failures > 0 {
		o.log(a, logging.Info, "Change stream resumed")
	}
	*o = streamOutage{}
}

func (o *streamOutage) log(a *aggregation, level options.LogLevel, message string, more ...any) {
	log := a.db.client.runner.Log()
	if !log.Enabled(logging.Command, level) {
		return
	}
	fields := append([]any{"databaseName", a.db.name, "collectionName", a.collection, "attempts", o.failures, "durationMS", logging.Milliseconds(time.Since(o.began))}, more...)
	log.Log(logging.Command, level, message, fields...)
}

// withinResumeTime calls attempts with a context that also ends by Config.MaxResumeTime, and names that in the error if it did.
func (c *Client) withinResumeTime(ctx context.Context, attempts func(context.Context) error) error {
	if c.maxResumeTime == 0 {
		return attempts(ctx)
	}
	limited, cancel := context.WithTimeout(ctx, c.maxResumeTime)
	defer cancel()
	err := attempts(limited)
	end, _ := limited.Deadline()
	if own, ok := ctx.Deadline(); ok && own.Equal(end) || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("mongo: the change stream could not resume within Config.MaxResumeTime, %v: %w", c.maxResumeTime, err)
}
