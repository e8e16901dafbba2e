package topology

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestCodesOfStateChanges(t *testing.T) {
	for _, c := range []struct {
		code                             int32
		msg                              string
		hasCode                          bool
		notPrimary, recovering, shutdown bool
	}{
		{code: 10107, hasCode: true, notPrimary: true},
		{code: 13435, hasCode: true, notPrimary: true},
		{code: 10058, hasCode: true, notPrimary: true},
		{code: 11602, hasCode: true, recovering: true},
		{code: 13436, hasCode: true, recovering: true},
		{code: 189, hasCode: true, recovering: true},
		{code: 11600, hasCode: true, recovering: true, shutdown: true},
		{code: 91, hasCode: true, recovering: true, shutdown: true},
		{code: 1, hasCode: true, msg: "not master"},
		{code: 1, hasCode: true, msg: "node is recovering"},
		{code: 0, hasCode: true, msg: "not master"},
		{msg: "not master", notPrimary: true},
		{msg: "not master and slaveOk=false", notPrimary: true},
		{msg: "not master or secondary; cannot currently read from this replSet member", recovering: true},
		{msg: "node is recovering", recovering: true},
		{msg: "the node is recovering and not master", recovering: true},
		{msg: "something else"},
	} {
		same(t, c.msg+": not primary", IsNotPrimary(c.code, c.msg, c.hasCode), c.notPrimary)
		same(t, c.msg+": recovering", IsRecovering(c.code, c.msg, c.hasCode), c.recovering)
		same(t, c.msg+": shutdown", IsShutdown(c.code), c.shutdown)
	}
}

// TestApplicationErrors checks SDAM, "Application errors", beyond the published cases.
func TestApplicationErrors(t *testing.T) {
	d := start(t, rs("a", "b"), with(member("a", RSPrimary, "a", "b"), version(process, 5)))
	lost := Reaction{Pool: ClearPool, CancelCheck: true}
	command := func(code int32, change func(*ErrorInfo)) ErrorInfo {
		e := ErrorInfo{Kind: CommandError, Code: code, HasCode: true, HandshakeDone: true, MaxWireVersion: 21}
		change(&e)
		return e
	}
	established := func(*ErrorInfo) {}
	handshake := func(e *ErrorInfo) { e.HandshakeDone, e.MaxWireVersion = false, 0 }
	for name, c := range map[string]struct {
		e       ErrorInfo
		unknown bool
		want    Reaction
	}{
		"a network error":                        {ErrorInfo{Kind: NetworkError, HandshakeDone: true}, true, lost},
		"a network error of an older generation": {ErrorInfo{Kind: NetworkError, HandshakeDone: true, Generation: 1, PoolGeneration: 2}, false, Reaction{}},
		"a timeout after the handshake":          {ErrorInfo{Kind: NetworkTimeout, HandshakeDone: true}, false, Reaction{}},
		"an overload error while connecting":     {ErrorInfo{Kind: NetworkError, Overloaded: true}, false, Reaction{CheckNow: true}},
		"an overload timeout while connecting":   {ErrorInfo{Kind: NetworkTimeout, Overloaded: true}, false, Reaction{CheckNow: true}},
		"an overload error of an older generation": {
			ErrorInfo{Kind: NetworkError, Overloaded: true, Generation: 1, PoolGeneration: 2}, false, Reaction{CheckNow: true},
		},
		"a network error in authentication": {ErrorInfo{Kind: NetworkError}, true, lost},
		"a timeout in authentication":       {ErrorInfo{Kind: NetworkTimeout}, true, lost},
		"a failed authentication":           {command(18, handshake), true, lost},
		"a command error":                   {command(18, established), false, Reaction{}},
		"not primary":                       {command(10107, established), true, Reaction{CheckNow: true}},
		"not primary in the handshake":      {command(10107, handshake), true, Reaction{CheckNow: true}},
		"shutting down":                     {command(91, established), true, Reaction{CheckNow: true, Pool: ClearPool}},
		"shutting down in the handshake":    {command(91, handshake), true, Reaction{CheckNow: true, Pool: ClearPool}},
		"before 4.2 a state change clears the pool": {
			command(10107, func(e *ErrorInfo) { e.MaxWireVersion = 7 }), true, Reaction{CheckNow: true, Pool: ClearPool},
		},
		"since 4.2 it does not": {command(10107, func(e *ErrorInfo) { e.MaxWireVersion = 8 }), true, Reaction{CheckNow: true}},
		"an equal topologyVersion": {
			command(10107, func(e *ErrorInfo) { e.TopologyVersion = &TopologyVersion{process, 5} }), false, Reaction{},
		},
		"a newer topologyVersion": {
			command(10107, func(e *ErrorInfo) { e.TopologyVersion = &TopologyVersion{process, 6} }), true, Reaction{CheckNow: true},
		},
	} {
		c.e.Err = errConnection
		next, got := OnError(d, "a", c.e)
		same(t, name, got, c.want)
		same(t, name+": the description is the same", next == d, !c.unknown)
		s := next.Server("a")
		same(t, name+": the server is unknown", s.Type == Unknown, c.unknown)
		if c.unknown {
			same(t, name+": its error", s.Error, errConnection)
			same(t, name+": its topologyVersion", s.TopologyVersion, c.e.TopologyVersion)
			same(t, name+": topology", next.Type, ReplicaSetNoPrimary)
		}
	}
}

func TestErrorsOfARemovedServerAreIgnored(t *testing.T) {
	d := start(t, rs("a"))
	next, r := OnError(d, "z", ErrorInfo{Kind: NetworkError, HandshakeDone: true})
	if next != d || r != (Reaction{}) {
		t.Errorf("an operation's error gives %+v, %+v", next, r)
	}
	next, r = OnCheckError(d, "z", NetworkError, errConnection)
	if next != d || r != (Reaction{}) {
		t.Errorf("a check's error gives %+v, %+v", next, r)
	}
}

func TestErrorsBehindALoadBalancerClearOneService(t *testing.T) {
	d := start(t, Config{Seeds: []string{"a"}, LoadBalanced: true}, &Server{Address: "a", Type: LoadBalancer})
	for name, c := range map[string]struct {
		e    ErrorInfo
		want PoolClear
	}{
		"a network error":                      {ErrorInfo{Kind: NetworkError, HandshakeDone: true, Service: bson.NewObjectID()}, ClearPool},
		"a timeout":                            {ErrorInfo{Kind: NetworkTimeout, HandshakeDone: true, Service: bson.NewObjectID()}, KeepPool},
		"before the service is known":          {ErrorInfo{Kind: NetworkError}, KeepPool},
		"in authentication":                    {ErrorInfo{Kind: NetworkError, Service: bson.NewObjectID()}, ClearPool},
		"not primary":                          {ErrorInfo{Code: 10107, HasCode: true, HandshakeDone: true, Service: bson.NewObjectID()}, KeepPool},
		"shutting down":                        {ErrorInfo{Code: 91, HasCode: true, HandshakeDone: true, Service: bson.NewObjectID()}, ClearPool},
		"shutting down, in the reply to hello": {ErrorInfo{Code: 91, HasCode: true}, KeepPool},
	} {
		next, r := OnError(d, "a", c.e)
		same(t, name, r, Reaction{Pool: c.want})
		same(t, name+": the description is the same", next, d)
	}
}

// TestCheckErrors checks Server Monitoring, "Network or command error during server check".
func TestCheckErrors(t *testing.T) {
	known := start(t, rs("a"), member("a", RSPrimary, "a"))
	unknown := start(t, rs("a"))
	for name, c := range map[string]struct {
		d    *Description
		kind ErrorKind
		want Reaction
	}{
		"after a network error a known server is checked again": {known, NetworkError, Reaction{Pool: ClearPool, CheckNow: true}},
		"a timeout also interrupts connections in use":          {known, NetworkTimeout, Reaction{Pool: ClearPoolInterruptInUse, CheckNow: true}},
		"a command error waits for the next check":              {known, CommandError, Reaction{Pool: ClearPool}},
		"an unknown server waits for the next check":            {unknown, NetworkError, Reaction{Pool: ClearPool}},
	} {
		next, got := OnCheckError(c.d, "a", c.kind, errConnection)
		same(t, name, got, c.want)
		same(t, name+": topology", next.Type, ReplicaSetNoPrimary)
		same(t, name+": the server's error", next.Server("a").Error, errConnection)
	}
}
