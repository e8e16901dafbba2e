package mongotest

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

func init() {
	call.Register(call.AtServer, connectionSpecs())
	call.Register(call.AtMember, deploymentSpecs())
}

// onConn makes a command of one that needs to know the connection.
func onConn(run func(*exec) error) func(*call.Call) error {
	return func(x *call.Call) error { return run(&x.Client.Conn.(*conn).x) }
}

// connectionSpecs are the commands on a connection, and what a server tells of its connections.
func connectionSpecs() []*call.Spec {
	return []*call.Spec{
		{Name: "hello", Since: version.Of(4, 4, 2), Run: onConn(cmdHello), Greeting: true, Service: true},
		{Name: "isMaster", Run: onConn(cmdHello), Greeting: true, Service: true},
		{Name: "ismaster", Run: onConn(cmdHello), Greeting: true, Service: true},
		{Name: "saslStart", Run: onConn(cmdSaslStart), Open: true, Service: true},
		{Name: "saslContinue", Run: onConn(cmdSaslContinue), Open: true, Service: true},
		{Name: "authenticate", Run: onConn(cmdAuthenticate), Open: true, Service: true},
		{Name: "logout", Run: onConn(cmdLogout), Open: true, Service: true},
		{Name: "serverStatus", Run: onConn(cmdServerStatus), Service: true},
		{Name: "getCmdLineOpts", Run: onConn(cmdGetCmdLineOpts), Service: true},
		{Name: "hostInfo", Run: onConn(cmdHostInfo), Service: true},
		{Name: "getLog", Run: onConn(cmdGetLog), Service: true},
		{Name: "whatsmyuri", Run: onConn(cmdWhatsMyURI), Open: true, Service: true},
	}
}

// deploymentSpecs are the commands that start and end servers.
func deploymentSpecs() []*call.Spec {
	return []*call.Spec{
		{Name: "replSetInitiate", Run: onConn(cmdReplSetInitiate), Service: true},
		{Name: "shutdown", Run: onConn(cmdShutdown), Service: true},
	}
}
