package shop

import (
	"context"
	"errors"
	"fmt"
	"time"

	gocb "github.com/couchbase/gocb/v2"
)

// The names of the scope and of its collections.
const (
	scopeName    = "shop"
	productsName = "products"
	cartsName    = "carts"
	ordersName   = "orders"
)

// cartLife is the time after which the server removes a cart that nobody touched.
const cartLife = 24 * time.Hour

// Store has the collections of the shop.
type Store struct {
	cluster  *gocb.Cluster
	bucket   *gocb.Bucket
	scope    *gocb.Scope
	products *gocb.Collection
	carts    *gocb.Collection
	orders   *gocb.Collection
	retries  *countingStrategy
	meter    *meter
}

// Open connects to a cluster, waits until it is ready, and creates the scope and the collections that are missing.
func Open(ctx context.Context, address string, o gocb.ClusterOptions, bucket string) (*Store, error) {
	retries, m := newCountingStrategy(), newMeter()
	o.RetryStrategy, o.Meter = retries, m
	o.TimeoutsConfig.KVTimeout = 5 * time.Second
	cluster, err := gocb.Connect(address, o)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	b := cluster.Bucket(bucket)
	scope := b.Scope(scopeName)
	s := &Store{
		cluster: cluster, bucket: b, scope: scope, retries: retries, meter: m,
		products: scope.Collection(productsName), carts: scope.Collection(cartsName), orders: scope.Collection(ordersName),
	}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, cluster.Close(nil))
	}
	return s, nil
}

// Close ends the connections.
func (s *Store) Close() error { return s.cluster.Close(nil) }

func (s *Store) prepare(ctx context.Context) error {
	err := s.bucket.WaitUntilReady(20*time.Second, &gocb.WaitUntilReadyOptions{
		DesiredState: gocb.ClusterStateOnline, Context: ctx,
		ServiceTypes: []gocb.ServiceType{gocb.ServiceTypeKeyValue, gocb.ServiceTypeQuery, gocb.ServiceTypeManagement},
	})
	if err != nil {
		return fmt.Errorf("wait until ready: %w", err)
	}
	manager := s.bucket.CollectionsV2()
	err = manager.CreateScope(scopeName, &gocb.CreateScopeOptions{Context: ctx})
	if err != nil && !errors.Is(err, gocb.ErrScopeExists) {
		return fmt.Errorf("create scope: %w", err)
	}
	for name, settings := range map[string]*gocb.CreateCollectionSettings{productsName: nil, cartsName: {MaxExpiry: 30 * cartLife}, ordersName: nil} {
		err := manager.CreateCollection(scopeName, name, settings, &gocb.CreateCollectionOptions{Context: ctx})
		if err != nil && !errors.Is(err, gocb.ErrCollectionExists) {
			return fmt.Errorf("create %s: %w", name, err)
		}
	}
	return nil
}

// Health is how the cluster is.
type Health struct {
	Online   bool              `json:"online"`
	Nodes    int               `json:"nodes"` // that have answered a ping of the key-value service
	Services []string          `json:"services"`
	Requests map[string]uint64 `json:"requests"` // by the name of the operation
	Retries  map[string]int    `json:"retries"`  // by reason
}

// Health pings the nodes and returns how the cluster is.
func (s *Store) Health(ctx context.Context) (Health, error) {
	h := Health{Requests: s.meter.counts(), Retries: s.retries.counts()}
	state, err := s.cluster.Diagnostics(&gocb.DiagnosticsOptions{ReportID: "health"})
	if err != nil {
		return h, err
	}
	h.Online = state.State == gocb.ClusterStateOnline
	ping, err := s.bucket.Ping(&gocb.PingOptions{
		ServiceTypes: []gocb.ServiceType{gocb.ServiceTypeKeyValue, gocb.ServiceTypeQuery}, Timeout: time.Second, Context: ctx,
	})
	if err != nil {
		return h, err
	}
	for _, service := range []gocb.ServiceType{gocb.ServiceTypeKeyValue, gocb.ServiceTypeQuery} {
		for _, endpoint := range ping.Services[service] {
			if endpoint.State == gocb.PingStateOk && service == gocb.ServiceTypeKeyValue {
				h.Nodes++
			}
		}
		if len(ping.Services[service]) > 0 {
			h.Services = append(h.Services, map[gocb.ServiceType]string{gocb.ServiceTypeKeyValue: "kv", gocb.ServiceTypeQuery: "query"}[service])
		}
	}
	return h, nil
}
