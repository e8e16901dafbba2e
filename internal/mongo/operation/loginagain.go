package operation

import (
	"context"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/retry"
)

// reauthenticationRequired is the code of a server that has not executed a command because the connection's login has expired.
const reauthenticationRequired = 391

// loggedIn sends the command and, if the connection's login has expired, logs it in again and sends the command once more. That is not
// a retry: it also happens to operations that are never retried. Source: Driver Authentication, "Reauthentication".
func (r *run) loggedIn(ctx, limited context.Context, target cluster.Target, conn *cluster.Conn) retry.Failure {
	failure := r.onConnection(ctx, limited, target, conn)
	if failure.Err == nil || r.reply.OK || r.reply.Code != reauthenticationRequired || !conn.LogsIn() {
		return failure
	}
	if err := target.Server.LogInAgain(limited, conn); err != nil {
		return r.checkOutFailed(ctx, target.Server, err)
	}
	return r.onConnection(ctx, limited, target, conn)
}
