package couchbase_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

func TestWaitUntilReady(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		if err := client.WaitUntilReady(5*time.Second, nil); err != nil {
			t.Errorf("the cluster: %v", err)
		}
		b := client.Bucket("default")
		if err := b.WaitUntilReady(5*time.Second, nil); err != nil {
			t.Errorf("the bucket: %v", err)
		}
		if err := b.WaitUntilReady(5*time.Second, &couchbase.WaitUntilReadyOptions{ServiceTypes: []couchbase.ServiceType{
			couchbase.ServiceTypeKeyValue, couchbase.ServiceTypeQuery, couchbase.ServiceTypeManagement,
		}}); err != nil {
			t.Errorf("services: %v", err)
		}
		err := client.Bucket("none").WaitUntilReady(time.Second, nil)
		var timeout *couchbase.TimeoutError
		if !errors.Is(err, couchbase.ErrUnambiguousTimeout) || !errors.Is(err, couchbase.ErrBucketNotFound) || !errors.As(err, &timeout) ||
			timeout.OperationID != "WaitUntilReady" || timeout.RetryReasons[0] != couchbase.NotReadyRetryReason {
			t.Errorf("a bucket that is not there: %v", err)
		}
		for _, c := range []struct {
			name string
			err  error
		}{
			{"a negative timeout", client.WaitUntilReady(-1, nil)},
			{"key-value of a cluster", client.WaitUntilReady(time.Second, &couchbase.WaitUntilReadyOptions{ServiceTypes: []couchbase.ServiceType{couchbase.ServiceTypeKeyValue}})},
			{"offline", b.WaitUntilReady(time.Second, &couchbase.WaitUntilReadyOptions{DesiredState: couchbase.ClusterStateOffline})},
			{"a service that does not exist", b.WaitUntilReady(time.Second, &couchbase.WaitUntilReadyOptions{ServiceTypes: []couchbase.ServiceType{99}})},
		} {
			if !errors.Is(c.err, couchbase.ErrInvalidArgument) {
				t.Errorf("%s: %v", c.name, c.err)
			}
		}
		wrong := connect(t, server, couchbase.ClusterOptions{Authenticator: couchbase.PasswordAuthenticator{Username: "x", Password: "y"}})
		defer wrong.Close(nil)
		began := time.Now()
		if err := wrong.WaitUntilReady(time.Minute, nil); !errors.Is(err, couchbase.ErrAuthenticationFailure) || time.Since(began) > 15*time.Second {
			t.Errorf("a wrong password: %v after %v", err, time.Since(began))
		}
		server.Kill(1)
		<-time.After(time.Second) // of the fake clock
		if err := b.WaitUntilReady(time.Second, nil); !errors.Is(err, couchbase.ErrUnambiguousTimeout) {
			t.Errorf("a node is dead: %v", err)
		}
		if err := b.WaitUntilReady(time.Second, &couchbase.WaitUntilReadyOptions{DesiredState: couchbase.ClusterStateDegraded}); err != nil {
			t.Errorf("a node is dead, and degraded is enough: %v", err)
		}
	}, couchbasetest.Nodes(2))
}

func TestPingAndDiagnostics(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		b := client.Bucket("default")
		if d := must[*couchbase.DiagnosticsResult](t)(client.Diagnostics(nil)); d.State != couchbase.ClusterStateOffline {
			t.Errorf("before there is a connection: %+v", d)
		}
		if err := b.WaitUntilReady(5*time.Second, nil); err != nil {
			t.Fatal(err)
		}
		ping := must[*couchbase.PingResult](t)(b.Ping(&couchbase.PingOptions{ReportID: "id"}))
		if ping.ID != "id" {
			t.Errorf("%+v", ping)
		}
		for _, service := range []couchbase.ServiceType{
			couchbase.ServiceTypeKeyValue, couchbase.ServiceTypeManagement, couchbase.ServiceTypeQuery, couchbase.ServiceTypeSearch,
			couchbase.ServiceTypeAnalytics, couchbase.ServiceTypeViews,
		} {
			reports := ping.Services[service]
			if len(reports) != 2 {
				t.Errorf("service %d has %d reports", service, len(reports))
			}
			for _, r := range reports {
				if r.State != couchbase.PingStateOk || r.ID == "" || r.Remote == "" || r.Local == "" || r.Error != "" {
					t.Errorf("service %d: %+v", service, r)
				}
			}
		}
		d := must[*couchbase.DiagnosticsResult](t)(client.Diagnostics(&couchbase.DiagnosticsOptions{ReportID: "x"}))
		if d.ID != "x" || d.State != couchbase.ClusterStateOnline || len(d.Services["kv"]) != 2 || d.Services["kv"][0].State != couchbase.EndpointStateConnected {
			t.Errorf("%+v", d)
		}
		server.Kill(1)
		<-time.After(time.Second) // of the fake clock
		if d := must[*couchbase.DiagnosticsResult](t)(client.Diagnostics(nil)); d.State != couchbase.ClusterStateDegraded {
			t.Errorf("a node is dead: %+v", d)
		}
		ping = must[*couchbase.PingResult](t)(client.Ping(&couchbase.PingOptions{
			ServiceTypes: []couchbase.ServiceType{couchbase.ServiceTypeKeyValue, couchbase.ServiceTypeQuery}, Timeout: 100 * time.Millisecond,
		}))
		if len(ping.Services) != 2 {
			t.Errorf("%+v", ping)
		}
		good := 0
		for _, reports := range ping.Services {
			for _, r := range reports {
				if r.State == couchbase.PingStateOk {
					good++
				} else if r.Error == "" {
					t.Errorf("%+v", r)
				}
			}
		}
		if good != 2 {
			t.Errorf("%d endpoints of a living node answered: %+v", good, ping)
		}
		text, err := json.Marshal(ping)
		if err != nil || !strings.Contains(string(text), `"latency_us"`) || !strings.Contains(string(text), `"version":2`) {
			t.Errorf("%s %v", text, err)
		}
		if _, err := client.Ping(&couchbase.PingOptions{ServiceTypes: []couchbase.ServiceType{0}}); !errors.Is(err, couchbase.ErrInvalidArgument) {
			t.Error(err)
		}
	}, couchbasetest.Nodes(2))
}
