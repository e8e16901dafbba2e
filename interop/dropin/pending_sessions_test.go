package dropin

// These are being written. When they are there, delete this file.
func init() {
	const sessions = "sessions and transactions are being written"
	allow(sessions, "NewSessionContext", "SessionFromContext", "WithSession")
	allow(sessions, "Client.NumberSessionsInProgress", "Client.StartSession", "Client.UseSession", "Client.UseSessionWithOptions")
	allow(sessions, "Session", "Session.AbortTransaction", "Session.AdvanceClusterTime", "Session.AdvanceOperationTime", "Session.Client", "Session.ClusterTime", "Session.CommitTransaction", "Session.EndSession", "Session.ID", "Session.OperationTime", "Session.SnapshotTime", "Session.StartTransaction", "Session.TransactionRunning", "Session.WithTransaction")
}
