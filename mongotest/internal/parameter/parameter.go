// Package parameter has the parameters of a server, which getParameter and setParameter read and change. Most are remembered and
// shown, nothing more.
package parameter

import (
	"bytes"
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

	// These are about the rate limiter for new connections.
	// https://www.mongodb.com/docs/manual/tutorial/configure-rate-limiter/
	LimiterEnabled = "ingressConnectionEstablishmentRateLimiterEnabled"
	LimiterRate    = "ingressConnectionEstablishmentRatePerSec"
	LimiterBurst   = "ingressConnectionEstablishmentBurstCapacitySecs"
	LimiterQueue   = "ingressConnectionEstablishmentMaxQueueDepth"
)

// Parameter is a value, and whether it can be set while the server runs.
type Parameter struct {
	Value   query.Value
	Runtime bool
}

// Parameters are those of a server, by name.
type Parameters map[string]Parameter

// New returns the parameters that a server of a version begins with. The texts are those that it is started with; they have been parsed
// before without an error.
func New(v version.Version, texts map[string]string) Parameters {
	at, doc := wire.BeginDocument(nil)
	doc = wire.EndDocument(wire.AppendString(doc, "version", v.Feature()), at)
	all := defaults()
	all["featureCompatibilityVersion"] = Parameter{query.Document(doc), false}
	for name, text := range texts {
		all[name], _ = all[name].parse(text)
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

// Set sets a parameter that there is. It keeps nothing of the value.
func (p Parameters) Set(name string, v query.Value) {
	p[name] = Parameter{query.Value{Type: v.Type, Data: bytes.Clone(v.Data)}, p[name].Runtime}
}

// Check refuses to set a parameter while the server runs: one that there is not or that cannot be set then, and a wrong value.
func (p Parameters) Check(name string, v query.Value) error {
	was, ok := p[name]
	switch {
	case !ok:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "attempted to set unrecognized parameter [%s], use help:true to see options ", name)
	case !was.Runtime:
		return mongoerr.Errorf(mongoerr.IllegalOperation, "not allowed to change [%s] at runtime", name)
	case was.Value.IsNumber() != v.IsNumber() || !was.Value.IsNumber() && was.Value.Type != v.Type:
		return mongoerr.Errorf(mongoerr.BadValue, "Invalid value for %s: %s: %s", name, name, v)
	}
	if err := checkLeast(name, v); err != nil {
		return err
	}
	return nil
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
	case name == "logLevel" && n < 0:
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
	dst = wire.AppendBool(dst, "settableAtStartup", p.Runtime)
	return wire.EndDocument(dst, at)
}

// Clone returns a copy.
func (p Parameters) Clone() Parameters { return maps.Clone(p) }
