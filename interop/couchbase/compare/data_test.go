package compare

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"slices"

	gocb "github.com/couchbase/gocb/v2"
)

func printReasons() {
	for i, r := range []gocb.RetryReason{
		gocb.UnknownRetryReason, gocb.SocketNotAvailableRetryReason, gocb.ServiceNotAvailableRetryReason, gocb.NodeNotAvailableRetryReason,
		gocb.KVNotMyVBucketRetryReason, gocb.KVCollectionOutdatedRetryReason, gocb.KVErrMapRetryReason, gocb.KVLockedRetryReason,
		gocb.KVTemporaryFailureRetryReason, gocb.KVSyncWriteInProgressRetryReason, gocb.KVSyncWriteRecommitInProgressRetryReason,
		gocb.ServiceResponseCodeIndicatedRetryReason, gocb.SocketCloseInFlightRetryReason, gocb.CircuitBreakerOpenRetryReason,
		gocb.QueryIndexNotFoundRetryReason, gocb.QueryPreparedStatementFailureRetryReason, gocb.AnalyticsTemporaryFailureRetryReason,
		gocb.SearchTooManyRequestsRetryReason, gocb.NotReadyRetryReason,
	} {
		b, err := json.Marshal(r)
		line(fmt.Sprintf("reason %d", i), "%v %v %s %v %v", r.AllowsNonIdempotentRetry(), r.AlwaysRetry(), b, err, r)
	}
}

// request is an operation of which a strategy is asked.
type request struct{ idempotent bool }

func (request) RetryAttempts() uint32            { return 3 }
func (request) Identifier() string               { return "1" }
func (r request) Idempotent() bool               { return r.idempotent }
func (request) RetryReasons() []gocb.RetryReason { return nil }

func printActions() {
	line("no retry", "%v", (&gocb.NoRetryRetryAction{}).Duration())
	line("retry after 5 ns", "%v", (&gocb.WithDurationRetryAction{WithDuration: 5}).Duration())
	strategy := gocb.NewBestEffortRetryStrategy(nil)
	for _, idempotent := range []bool{true, false} {
		for _, r := range []gocb.RetryReason{gocb.KVLockedRetryReason, gocb.SocketCloseInFlightRetryReason, gocb.UnknownRetryReason} {
			delay := strategy.RetryAfter(request{idempotent}, r).Duration()
			line(fmt.Sprintf("best effort, idempotent %v, %s", idempotent, r.Description()), "retried %v", delay > 0)
		}
	}
}

var transcoders = []struct {
	name       string
	transcoder gocb.Transcoder
}{
	{"JSON", gocb.NewJSONTranscoder()},
	{"raw JSON", gocb.NewRawJSONTranscoder()},
	{"raw string", gocb.NewRawStringTranscoder()},
	{"raw binary", gocb.NewRawBinaryTranscoder()},
	{"legacy", gocb.NewLegacyTranscoder()},
}

func printTranscoders() {
	s, b, i := "str", []byte("by"), 5
	var a, number any = "an", 7
	raw := json.RawMessage(`{"r":1}`)
	values := []struct {
		name  string
		value any
	}{
		{"string", "x"},
		{"bytes", []byte(`"b"`)},
		{"pointer to string", &s},
		{"pointer to bytes", &b},
		{"pointer to any with string", &a},
		{"pointer to any with number", &number},
		{"raw message", raw},
		{"pointer to raw message", &raw},
		{"broken raw message", json.RawMessage(`{`)},
		{"int", 5},
		{"pointer to int", &i},
		{"nil", nil},
		{"map", map[string]int{"a": 1}},
		{"func", func() {}},
		{"characters of HTML", "<&>"},
		{"empty string", ""},
		{"no bytes", []byte{}},
	}
	for _, t := range transcoders {
		for _, v := range values {
			encoded, flags, err := t.transcoder.Encode(v.value)
			line(t.name+" encodes "+v.name, "%q %#x %s", encoded, flags, failed(err))
		}
		for _, flags := range []uint32{0x2000000, 0x3000000, 0x4000000, 0, 1, 0x1000000, 0x5000000, 0x2000001, 0x2000006, 0x3000020, 0x22000000, 0xffffffff} {
			for _, content := range []string{`"q"`, `{"a":1}`, "", "{"} {
				printDecoded(fmt.Sprintf("%s decodes %q with flags %#x", t.name, content, flags), t.transcoder, []byte(content), flags)
			}
		}
	}
}

func printDecoded(name string, transcoder gocb.Transcoder, content []byte, flags uint32) {
	var s string
	var b []byte
	var a any
	var raw json.RawMessage
	var i int
	for _, out := range []struct {
		name    string
		pointer any
	}{{"string", &s}, {"bytes", &b}, {"any", &a}, {"raw message", &raw}, {"int", &i}, {"nothing", nil}} {
		err := transcoder.Decode(slices.Clone(content), flags, out.pointer)
		line(name+" into "+out.name, "%q %q %v %s %d %s", s, b, a, raw, i, failed(err))
		s, b, a, raw, i = "", nil, nil, nil, 0
	}
}

func printMutationStates() {
	for _, text := range []string{
		`{}`, `null`, `{"default":{"5":[7,"12345"],"3":[9,"678"]},"other":{"0":[1,"18446744073709551615"]}}`, `{"default":{"x":[7,"12345"]}}`,
		`{"default":{"5":[7]}}`, `{"default":{"5":["7","12345"]}}`, `{"default":{"5":[7,12345]}}`, `[]`, `{"default":{"5":[7,"1","2"]}}`, `{"default":{"5":[7,"x"]}}`,
	} {
		state := gocb.NewMutationState()
		err := json.Unmarshal([]byte(text), state)
		b, marshalErr := json.Marshal(state)
		line("mutation state "+text, "%s %s %s %d tokens", failed(err), b, failed(marshalErr), len(state.Internal().Tokens()))
	}
	state := gocb.NewMutationState(gocb.MutationToken{})
	line("mutation state of no write", "%d tokens", len(state.Internal().Tokens()))
	token := gocb.MutationToken{}
	line("empty mutation token", "%q %d %d %d", token.BucketName(), token.PartitionID(), token.PartitionUUID(), token.SequenceNumber())
}

func printAuthenticators() {
	password := gocb.PasswordAuthenticator{Username: "u", Password: "p"}
	certificate := gocb.CertificateAuthenticator{ClientCertificate: &tls.Certificate{}}
	for _, a := range []struct {
		name          string
		authenticator gocb.Authenticator
	}{{"password", password}, {"certificate", certificate}} {
		pairs, err := a.authenticator.Credentials(gocb.AuthCredsRequest{})
		cert, certErr := a.authenticator.Certificate(gocb.AuthCertRequest{})
		for _, p := range pairs {
			line(a.name+" authenticator, a pair", "%q %q", p.Username, p.Password)
		}
		line(a.name+" authenticator", "%v %v %d %s %v %s", a.authenticator.SupportsTLS(), a.authenticator.SupportsNonTLS(), len(pairs), failed(err), cert != nil, failed(certErr))
	}
}

func printReports() {
	ping := gocb.PingResult{ID: "x", Services: map[gocb.ServiceType][]gocb.EndpointPingReport{
		gocb.ServiceTypeKeyValue:   {{ID: "1", Local: "l", Remote: "r", State: gocb.PingStateOk, Namespace: "n", Latency: 5_000_000}},
		gocb.ServiceTypeQuery:      {{State: gocb.PingStateError, Error: "bad"}},
		gocb.ServiceTypeSearch:     {{State: gocb.PingStateTimeout}},
		gocb.ServiceTypeAnalytics:  {{State: 77}},
		gocb.ServiceTypeViews:      {},
		gocb.ServiceTypeManagement: nil,
	}}
	b, err := json.Marshal(&ping)
	line("ping report", "%s %s", withoutSDK(string(b)), failed(err))
	diagnostics := gocb.DiagnosticsResult{ID: "x", State: gocb.ClusterStateDegraded, Services: map[string][]gocb.EndPointDiagnostics{
		"kv": {
			{Type: gocb.ServiceTypeKeyValue, ID: "1", Local: "l", Remote: "r", State: gocb.EndpointStateConnected, Namespace: "n"},
			{Type: gocb.ServiceTypeKeyValue, State: gocb.EndpointStateDisconnecting},
		},
		"query": {{Type: gocb.ServiceTypeQuery, State: gocb.EndpointStateConnecting}},
	}}
	b, err = json.Marshal(&diagnostics)
	line("diagnostics report", "%s %s", withoutSDK(string(b)), failed(err))
}

// withoutSDK removes the client's name from a report.
func withoutSDK(text string) string {
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return err.Error()
	}
	delete(v, "sdk")
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func printProfiles() {
	var options gocb.ClusterOptions
	err := options.ApplyProfile(gocb.ClusterConfigProfileWanDevelopment)
	line("wan-development", "%+v %s", options.TimeoutsConfig, failed(err))
	line("unknown profile", "%s", failed(options.ApplyProfile("x")))
}
