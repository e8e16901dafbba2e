package admin

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/stableapi"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

func init() {
	call.Register(call.AtShard, append(accountSpecs(), oplogSpecs()...))
	call.Register(call.AtServer, serverSpecs())
	call.Register(call.AtMember, memberSpecs())
	call.Register(call.AtMongos, mongosSpecs())
}

// accountSpecs are the commands on users and roles, which are data.
func accountSpecs() []*call.Spec {
	return []*call.Spec{
		{Name: "createUser", Run: cmdCreateUser, Service: true},
		{Name: "updateUser", Run: cmdUpdateUser, Service: true},
		{Name: "dropUser", Run: cmdDropUser, Service: true},
		{Name: "dropAllUsersFromDatabase", Run: cmdDropAllUsersFromDatabase, Service: true},
		{Name: "grantRolesToUser", Run: cmdGrantRolesToUser, Service: true},
		{Name: "revokeRolesFromUser", Run: cmdRevokeRolesFromUser, Service: true},
		{Name: "usersInfo", Run: cmdUsersInfo, Service: true},
		{Name: "createRole", Run: cmdCreateRole, Service: true},
		{Name: "updateRole", Run: cmdUpdateRole, Service: true},
		{Name: "dropRole", Run: cmdDropRole, Service: true},
		{Name: "dropAllRolesFromDatabase", Run: cmdDropAllRolesFromDatabase, Service: true},
		{Name: "grantPrivilegesToRole", Run: cmdGrantPrivilegesToRole, Service: true},
		{Name: "revokePrivilegesFromRole", Run: cmdRevokePrivilegesFromRole, Service: true},
		{Name: "grantRolesToRole", Run: cmdGrantRolesToRole, Service: true},
		{Name: "revokeRolesFromRole", Run: cmdRevokeRolesFromRole, Service: true},
		{Name: "rolesInfo", Run: cmdRolesInfo, Service: true},
	}
}

// oplogSpecs are the commands on the log, which is data too.
func oplogSpecs() []*call.Spec {
	return []*call.Spec{
		{Name: "appendOplogNote", Run: cmdAppendOplogNote, Write: true},
	}
}

// serverSpecs are the commands on the server itself.
func serverSpecs() []*call.Spec {
	return []*call.Spec{
		{Name: "ping", Run: cmdPing, Open: true, Service: true},
		{Name: "buildInfo", Run: cmdBuildInfo, Open: true, Service: true},
		{Name: "buildinfo", Run: cmdBuildInfo, Open: true, Service: true},
		{Name: "getnonce", Gone: version.Of(6, 2, 0), Run: cmdGetNonce, Open: true, Service: true},
		{Name: "connectionStatus", Run: cmdConnectionStatus, Open: true, Service: true},
		{Name: "startSession", Run: cmdStartSession, Service: true},
		{Name: "endSessions", Run: cmdSessions, Open: true, Service: true},
		{Name: "refreshSessions", Run: cmdSessions, Service: true},
		{Name: "killSessions", Run: cmdSessions, Service: true},
		{Name: "killAllSessions", Run: cmdKillAllSessions, Service: true},
		{Name: "getParameter", Run: cmdGetParameter, Service: true},
		{Name: "setParameter", Run: cmdSetParameter, Service: true},
		{Name: "top", Run: cmdTop, Service: true},
		{Name: "fsync", Run: cmdFsync, Service: true},
		{Name: "fsyncUnlock", Run: cmdFsyncUnlock, Service: true},
		{Name: "profile", Run: cmdProfile, Service: true},
		{Name: "configureFailPoint", Run: cmdConfigureFailPoint, Service: true},
		{Name: "listCommands", Run: cmdListCommands, Service: true},
		{Name: stableapi.TestVersion2, Since: version.Of(5, 0, 0), Run: cmdPing, Service: true},
		{Name: stableapi.TestDeprecation, Since: version.Of(5, 0, 0), Run: cmdPing, Service: true},
	}
}

// memberSpecs are the commands on a replica set and its members.
func memberSpecs() []*call.Spec {
	return []*call.Spec{
		{Name: "replSetStepDown", Run: cmdReplSetStepDown, Service: true},
		{Name: "replSetGetConfig", Run: cmdReplSetGetConfig, Service: true},
		{Name: "replSetReconfig", Run: cmdReplSetReconfig, Service: true},
		{Name: "replSetFreeze", Run: cmdReplSetFreeze, Service: true},
		{Name: "replSetGetStatus", Run: cmdReplSetGetStatus, Service: true},
	}
}

// mongosSpecs are the commands on a sharded cluster.
func mongosSpecs() []*call.Spec {
	return []*call.Spec{
		{Name: "listShards", Run: cmdListShards, Service: true},
		{Name: "getShardMap", Run: cmdGetShardMap, Service: true},
		{Name: "isdbgrid", Run: cmdIsDBGrid, Service: true},
		{Name: "balancerStart", Run: cmdRouting, Service: true},
		{Name: "balancerStop", Run: cmdRouting, Service: true},
		{Name: "flushRouterConfig", Run: cmdRouting, Service: true},
		{Name: "checkMetadataConsistency", Since: version.Of(7, 0, 0), Run: cmdCheckMetadataConsistency, Service: true},
		{Name: "enableSharding", Run: cmdEnableSharding, Service: true},
		{Name: "shardCollection", Run: cmdShardCollection, Service: true},
	}
}
