package mongotest

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/stableapi"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

func init() {
	for p, list := range [][]*spec{atShard: append(dataSpecs(), accountSpecs()...), atServer: serverSpecs(), atMember: memberSpecs(), atMongos: mongosSpecs()} {
		register(place(p), list)
	}
}

// onConn makes a command of one that needs to know the connection.
func onConn(run func(*exec) error) func(*call) error {
	return func(x *call) error { return run(&x.client.conn.(*conn).x) }
}

// serverSpecs are the commands on the server itself.
func serverSpecs() []*spec {
	return []*spec{
		{name: "hello", since: version.Of(4, 4, 2), run: onConn(cmdHello), greeting: true, service: true},
		{name: "isMaster", run: onConn(cmdHello), greeting: true, service: true},
		{name: "ismaster", run: onConn(cmdHello), greeting: true, service: true},
		{name: "ping", run: cmdPing, open: true, service: true},
		{name: "buildInfo", run: cmdBuildInfo, open: true, service: true},
		{name: "buildinfo", run: cmdBuildInfo, open: true, service: true},
		{name: "getnonce", gone: version.Of(6, 2, 0), run: cmdGetNonce, open: true, service: true},
		{name: "saslStart", run: onConn(cmdSaslStart), open: true, service: true},
		{name: "saslContinue", run: onConn(cmdSaslContinue), open: true, service: true},
		{name: "authenticate", run: onConn(cmdAuthenticate), open: true, service: true},
		{name: "logout", run: onConn(cmdLogout), open: true, service: true},
		{name: "connectionStatus", run: cmdConnectionStatus, open: true, service: true},
		{name: "startSession", run: cmdStartSession, service: true},
		{name: "endSessions", run: cmdSessions, open: true, service: true},
		{name: "refreshSessions", run: cmdSessions, service: true},
		{name: "killSessions", run: cmdSessions, service: true},
		{name: "killAllSessions", run: cmdKillAllSessions, service: true},
		{name: "serverStatus", run: onConn(cmdServerStatus), service: true},
		{name: "getParameter", run: cmdGetParameter, service: true},
		{name: "setParameter", run: cmdSetParameter, service: true},
		{name: "getCmdLineOpts", run: onConn(cmdGetCmdLineOpts), service: true},
		{name: "currentOp", run: cmdCurrentOp, service: true},
		{name: "killOp", run: cmdKillOp, service: true},
		{name: "hostInfo", run: onConn(cmdHostInfo), service: true},
		{name: "top", run: cmdTop, service: true},
		{name: "getLog", run: onConn(cmdGetLog), service: true},
		{name: "whatsmyuri", run: onConn(cmdWhatsMyURI), open: true, service: true},
		{name: "fsync", run: cmdFsync, service: true},
		{name: "fsyncUnlock", run: cmdFsyncUnlock, service: true},
		{name: "profile", run: cmdProfile, service: true},
		{name: "configureFailPoint", run: cmdConfigureFailPoint, service: true},
		{name: "listCommands", run: cmdListCommands, service: true},
		{name: stableapi.TestVersion2, since: version.Of(5, 0, 0), run: cmdPing, service: true},
		{name: stableapi.TestDeprecation, since: version.Of(5, 0, 0), run: cmdPing, service: true},
	}
}

// memberSpecs are the commands on a replica set and its members.
func memberSpecs() []*spec {
	return []*spec{
		{name: "replSetStepDown", run: cmdReplSetStepDown, service: true},
		{name: "replSetInitiate", run: onConn(cmdReplSetInitiate), service: true},
		{name: "replSetGetConfig", run: cmdReplSetGetConfig, service: true},
		{name: "replSetReconfig", run: cmdReplSetReconfig, service: true},
		{name: "replSetFreeze", run: cmdReplSetFreeze, service: true},
		{name: "replSetGetStatus", run: cmdReplSetGetStatus, service: true},
		{name: "shutdown", run: onConn(cmdShutdown), service: true},
	}
}

// mongosSpecs are the commands on a sharded cluster.
func mongosSpecs() []*spec {
	return []*spec{
		{name: "listShards", run: cmdListShards, service: true},
		{name: "getShardMap", run: cmdGetShardMap, service: true},
		{name: "isdbgrid", run: cmdIsDBGrid, service: true},
		{name: "balancerStart", run: cmdRouting, service: true},
		{name: "balancerStop", run: cmdRouting, service: true},
		{name: "flushRouterConfig", run: cmdRouting, service: true},
		{name: "checkMetadataConsistency", since: version.Of(7, 0, 0), run: cmdCheckMetadataConsistency, service: true},
		{name: "enableSharding", run: cmdEnableSharding, service: true},
		{name: "shardCollection", run: cmdShardCollection, service: true},
	}
}
