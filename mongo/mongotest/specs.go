package mongotest

// specs are the commands by name. It is never written to after the program began.
var specs = make(map[string]*spec)

func init() {
	for _, s := range []*spec{
		{name: "hello", run: cmdHello, greeting: true, service: true},
		{name: "isMaster", run: cmdHello, greeting: true, service: true},
		{name: "ismaster", run: cmdHello, greeting: true, service: true},
		{name: "ping", run: cmdPing, service: true},
		{name: "buildInfo", run: cmdBuildInfo, service: true},
		{name: "buildinfo", run: cmdBuildInfo, service: true},
		{name: "insert", run: cmdInsert, write: true, retryable: true, statements: "documents"},
		{name: "update", run: cmdUpdate, write: true, retryable: true, statements: "updates"},
		{name: "delete", run: cmdDelete, write: true, retryable: true, statements: "deletes"},
		{name: "findAndModify", run: cmdFindAndModify, write: true, retryable: true},
		{name: "findandmodify", run: cmdFindAndModify, write: true, retryable: true},
		{name: "find", run: cmdFind},
		{name: "getMore", run: cmdGetMore},
		{name: "killCursors", run: cmdKillCursors, service: true},
		{name: "count", run: cmdCount},
		{name: "aggregate", run: cmdAggregate},
		{name: "create", run: cmdCreate, write: true},
		{name: "drop", run: cmdDrop, write: true},
		{name: "dropDatabase", run: cmdDropDatabase, write: true},
		{name: "listCollections", run: cmdListCollections},
		{name: "listDatabases", run: cmdListDatabases},
		{name: "startSession", run: cmdStartSession, service: true},
		{name: "endSessions", run: cmdSessions, service: true},
		{name: "refreshSessions", run: cmdSessions, service: true},
		{name: "killSessions", run: cmdSessions, service: true},
		{name: "killAllSessions", run: cmdSessions, service: true},
		{name: "replSetStepDown", run: cmdReplSetStepDown, service: true},
		{name: "replSetGetStatus", run: cmdReplSetGetStatus, service: true},
		{name: "configureFailPoint", run: cmdConfigureFailPoint, service: true},
	} {
		specs[s.name] = s
	}
}
