// Package parameter has the parameters of a server, which getParameter and setParameter read and change. Most are remembered and
// shown, nothing more.
package parameter

import (
	"maps"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// The parameters that mean something here.
const (
	// TransactionLifetime says after how many seconds a transaction is aborted.
	TransactionLifetime = "transactionLifetimeLimitSeconds"

	// TTLEnabled and TTLSleep are about the deletion of expired documents.
	TTLEnabled = "ttlMonitorEnabled"
	TTLSleep   = "ttlMonitorSleepSecs"

	// RequireAPI says whether commands must declare the Stable API.
	RequireAPI = "requireApiVersion"

	// These are about the rate limiter for new connections.
	// https://www.mongodb.com/docs/manual/tutorial/configure-rate-limiter/
	LimiterEnabled = "ingressConnectionEstablishmentRateLimiterEnabled"
	LimiterRate    = "ingressConnectionEstablishmentRatePerSec"
	LimiterBurst   = "ingressConnectionEstablishmentBurstCapacitySecs"
	LimiterQueue   = "ingressConnectionEstablishmentMaxQueueDepth"
)

// schemaOfUsers is the version of the form in which the real server keeps users, since 3.0.
const schemaOfUsers = 5

// Parameter is a value, and whether it can be set while the server runs, and when it starts.
type Parameter struct {
	Value            query.Value
	Runtime, Startup bool
}

// Parameters are those of a server, by name.
type Parameters map[string]Parameter

// New returns the parameters that a server of a version begins with. The texts are those that it is started with; they have been parsed
// before without an error.
func New(v version.Version, texts map[string]string) Parameters {
	at, doc := wire.BeginDocument(nil)
	doc = wire.EndDocument(wire.AppendString(doc, "version", v.Feature()), at)
	all := defaults()
	all["featureCompatibilityVersion"] = Parameter{Value: query.Document(doc)}
	all["authSchemaVersion"] = Parameter{Value: query.Int32(schemaOfUsers)}
	all["authenticationMechanisms"] = Parameter{Value: listOf("MONGODB-X509", "SCRAM-SHA-1", "SCRAM-SHA-256"), Startup: true}
	all[logComponents] = Parameter{quietest(), true, true}
	for name, text := range texts {
		p, _ := all[name].parse(text)
		all.Set(name, p.Value)
	}
	return all
}

// Seconds returns the value of a parameter that counts seconds.
func (p Parameters) Seconds(name string) time.Duration {
	n, _ := p[name].Value.Integer()
	return time.Duration(n) * time.Second
}

// True reports whether a parameter that switches something is on.
func (p Parameters) True(name string) bool { return p[name].Value.True() }

// Check refuses to set a parameter while the server runs: one that there is not or that cannot be set then, and a wrong value. It
// returns the value that the parameter gets.
func (p Parameters) Check(name string, v query.Value) (query.Value, error) {
	was, ok := p[name]
	switch {
	case !ok:
		return v, mongoerr.Errorf(mongoerr.InvalidOptions, "attempted to set unrecognized parameter [%s], use help:true to see options ", name)
	case !was.Runtime:
		return v, mongoerr.Errorf(mongoerr.IllegalOperation, "not allowed to change [%s] at runtime", name)
	case name == logLevel:
		return coercedLevel(v)
	case name == logComponents:
		set, err := readLevels(was.Value, v)
		if err != nil {
			return v, err
		}
		return query.Document(set.applied("", was.Value.Data)), nil
	}
	v, err := was.coerced(name, v)
	if err != nil {
		return v, err
	}
	if err := checkLeast(name, v); err != nil {
		return v, err
	}
	return v, nil
}

// Set sets a parameter to a value that Check has returned. The level of all components of the log is part of two parameters.
func (p Parameters) Set(name string, v query.Value) {
	p.put(name, v)
	switch name {
	case logLevel:
		n, _ := v.Integer()
		p.put(logComponents, query.Document(levels{"": int32(n)}.applied("", p[logComponents].Value.Data)))
	case logComponents:
		p.put(logLevel, query.Lookup(v.Data, "verbosity"))
	}
}

func (p Parameters) put(name string, v query.Value) {
	was := p[name]
	was.Value = v
	p[name] = was
}

// checkLeast refuses a value of the right type that is too small. Of the other numbers the real server takes any.
func checkLeast(name string, v query.Value) *mongoerr.Error {
	const atLeast = "Invalid value for parameter %s: %d is not greater than or equal to %d"
	switch n, _ := v.Integer(); {
	case (name == TransactionLifetime || name == LimiterRate || name == TTLSleep) && n < 1:
		return mongoerr.Errorf(mongoerr.BadValue, atLeast, name, n, 1)
	case name == LimiterQueue && n < 0:
		return mongoerr.Errorf(mongoerr.BadValue, atLeast, name, n, 0)
	case name == LimiterBurst && v.AsFloat64() <= 0:
		return mongoerr.Errorf(mongoerr.BadValue, "Invalid value for parameter %s: %v is not greater than 0", name, v.AsFloat64())
	case name == logLevel && n < 0:
		return mongoerr.Errorf(mongoerr.BadValue, "Invalid value for logLevel: logLevel: %s", v)
	}
	return nil
}

// Append writes the parameter as getParameter answers it, with or without details.
func (p Parameter) Append(dst []byte, name string, details bool) []byte {
	if !details {
		return wire.AppendValue(dst, name, p.Value.Type, p.Value.Data)
	}
	at, dst := wire.BeginEmbedded(dst, name)
	dst = wire.AppendValue(dst, "value", p.Value.Type, p.Value.Data)
	dst = wire.AppendBool(dst, "settableAtRuntime", p.Runtime)
	dst = wire.AppendBool(dst, "settableAtStartup", p.Startup)
	return wire.EndDocument(dst, at)
}

// Clone returns a copy.
func (p Parameters) Clone() Parameters { return maps.Clone(p) }
