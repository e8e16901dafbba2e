package couchbase

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// PingOptions are the options of [Cluster.Ping] and [Bucket.Ping].
type PingOptions struct {
	ServiceTypes []ServiceType // empty: all that the cluster has
	ReportID     string        // empty: a random one
	Timeout      time.Duration // of each endpoint; 0: that of the service
	ParentSpan   RequestSpan
	Context      context.Context // nil: none. The pings end when it does.
}

// Ping asks each endpoint of the cluster for an answer. Key-value endpoints are those of the buckets that were opened.
func (c *Cluster) Ping(opts *PingOptions) (*PingResult, error) { return c.ping(nil, opts) }

// Ping asks each endpoint of the cluster for an answer. Key-value endpoints are those of the bucket.
func (b *Bucket) Ping(opts *PingOptions) (*PingResult, error) {
	if b.name == "" {
		return nil, invalid("the name of the bucket is empty")
	}
	return b.cluster.ping(b, opts)
}

// allServices are the services in the order of reports.
var allServices = []ServiceType{
	ServiceTypeKeyValue, ServiceTypeManagement, ServiceTypeQuery, ServiceTypeSearch, ServiceTypeAnalytics, ServiceTypeViews,
}

// mapServices has the services' names in cluster maps.
var mapServices = map[ServiceType]clustermap.Service{
	ServiceTypeKeyValue: clustermap.KeyValue, ServiceTypeManagement: clustermap.Management, ServiceTypeViews: clustermap.Views,
	ServiceTypeQuery: clustermap.Query, ServiceTypeSearch: clustermap.Search, ServiceTypeAnalytics: clustermap.Analytics,
}

// checkServices returns an error if a service does not exist.
func checkServices(services []ServiceType) error {
	for i, s := range services {
		if !slices.Contains(allServices, s) {
			return invalid("ServiceTypes[%d] is %d, which is no service of this client", i, s)
		}
	}
	return nil
}

func (c *Cluster) ping(b *Bucket, opts *PingOptions) (*PingResult, error) {
	if opts == nil {
		opts = &PingOptions{}
	}
	if err := c.usable(); err != nil {
		return nil, err
	}
	if err := checkServices(opts.ServiceTypes); err != nil {
		return nil, err
	}
	if opts.Timeout < 0 {
		return nil, invalid("Timeout is %v; it must not be negative", opts.Timeout)
	}
	p := &pinger{cluster: c, bucket: b, timeout: opts.Timeout, ctx: opts.Context}
	if p.ctx == nil {
		p.ctx = context.Background()
	}
	span := c.instruments.beginReport("ping", opts.ParentSpan)
	defer span.End()
	services := opts.ServiceTypes
	if len(services) == 0 {
		services = allServices
	}
	p.run(services)
	id := opts.ReportID
	if id == "" {
		id = newID()
	}
	return &PingResult{ID: id, Services: p.reports}, nil
}

// beginReport begins the span of an operation that asks many endpoints.
func (i *instruments) beginReport(name string, parent RequestSpan) RequestSpan {
	var above RequestSpanContext
	if parent != nil {
		above = parent.Context()
	}
	span := i.tracer.RequestSpan(above, name)
	span.SetAttribute(attributeSystem, "couchbase")
	return span
}

// pinger asks endpoints side by side.
type pinger struct {
	cluster *Cluster
	bucket  *Bucket // nil: all that were opened
	timeout time.Duration
	ctx     context.Context

	asks sync.WaitGroup
	mu   sync.Mutex
	// reports has the outcomes, in the order of the map.
	reports map[ServiceType][]EndpointPingReport
}

// run asks the endpoints of some services.
func (p *pinger) run(services []ServiceType) {
	p.reports = make(map[ServiceType][]EndpointPingReport)
	for _, service := range services {
		if service == ServiceTypeKeyValue {
			p.pingKeyValue()
		} else {
			p.pingHTTP(service)
		}
	}
	p.asks.Wait()
}

// ask runs one ping and puts its report in the place that it has in the list of its service.
func (p *pinger) ask(service ServiceType, timeout time.Duration, ping func(timeout time.Duration) EndpointPingReport) {
	p.mu.Lock()
	place := len(p.reports[service])
	p.reports[service] = append(p.reports[service], EndpointPingReport{})
	p.mu.Unlock()
	if p.timeout > 0 {
		timeout = p.timeout
	}
	p.asks.Go(func() {
		report := ping(timeout)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.reports[service][place] = report
	})
}

func (p *pinger) pingKeyValue() {
	buckets := p.cluster.cluster.Buckets()
	if p.bucket != nil {
		buckets = []*cluster.Bucket{p.bucket.bucket}
	}
	for _, b := range buckets {
		s := b.Snapshot()
		if s == nil {
			p.ask(ServiceTypeKeyValue, p.cluster.settings.timeouts.KVTimeout, func(timeout time.Duration) EndpointPingReport {
				return p.pingOpening(b, timeout)
			})
			continue
		}
		for _, e := range s.Endpoints {
			if e == nil {
				continue
			}
			p.ask(ServiceTypeKeyValue, p.cluster.settings.timeouts.KVTimeout, func(timeout time.Duration) EndpointPingReport {
				return p.pingEndpoint(b.Name(), e, timeout)
			})
		}
	}
}

// pingOpening waits for a bucket that is not open yet.
func (p *pinger) pingOpening(b *cluster.Bucket, timeout time.Duration) EndpointPingReport {
	ctx, cancel := context.WithTimeout(p.ctx, timeout)
	defer cancel()
	began := time.Now()
	opening := &Bucket{cluster: p.cluster, name: b.Name(), bucket: b}
	s, err := opening.opened(ctx)
	if err == nil {
		for _, e := range s.Endpoints {
			if e != nil {
				return p.pingEndpoint(b.Name(), e, timeout-time.Since(began))
			}
		}
		err = errors.New("couchbase: no node has the bucket")
	}
	return failedPing(EndpointPingReport{ID: newID(), Namespace: b.Name(), Latency: time.Since(began)}, err)
}

// pingEndpoint sends a NOOP. It waits for a connection that is being made.
func (p *pinger) pingEndpoint(bucket string, e *cluster.Endpoint, timeout time.Duration) EndpointPingReport {
	r := EndpointPingReport{ID: newID(), Remote: e.Address(), Namespace: bucket}
	began := time.Now()
	deadline := began.Add(timeout)
	if d, ok := p.ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	conn, err := p.connection(e, deadline)
	if err == nil {
		r.ID, r.Local = conn.ID(), conn.Local()
		var reply kv.Reply
		err = conn.RoundTrip(&kv.Request{Opcode: memd.OpNoop, Deadline: deadline, Cancelled: p.ctx.Done()}, &reply)
	}
	r.Latency = time.Since(began)
	if err != nil {
		return failedPing(r, err)
	}
	r.State = PingStateOk
	return r
}

// connectionPause is the time between two looks for a connection.
const connectionPause = time.Millisecond

// connection returns the connection of an endpoint, for which it waits.
func (p *pinger) connection(e *cluster.Endpoint, deadline time.Time) (*kv.Conn, error) {
	for {
		if conn := e.Conn(); conn != nil {
			return conn, nil
		}
		select {
		case <-p.ctx.Done():
			return nil, p.ctx.Err()
		case <-time.After(connectionPause):
		}
		if !time.Now().Before(deadline) {
			return nil, errors.Join(ErrUnambiguousTimeout, e.Err())
		}
	}
}

// failedPing fills in the error of a report.
func failedPing(r EndpointPingReport, err error) EndpointPingReport {
	r.State, r.Error = PingStateError, err.Error()
	if errors.Is(err, kv.ErrDeadline) || errors.Is(err, ErrTimeout) || errors.Is(err, context.DeadlineExceeded) {
		r.State = PingStateTimeout
	}
	return r
}

func (p *pinger) pingHTTP(service ServiceType) {
	s := p.cluster.cluster.Snapshot()
	secure := p.cluster.cluster.TLS()
	bucket := ""
	if service == ServiceTypeViews && p.bucket != nil {
		bucket = p.bucket.name
	}
	for _, address := range addressesOf(s, mapServices[service], secure) {
		p.ask(service, p.cluster.serviceTimeout(service), func(timeout time.Duration) EndpointPingReport {
			r := EndpointPingReport{ID: newID(), Namespace: bucket, Remote: address}
			pong := p.cluster.http.client.Ping(p.ctx, mapServices[service], address, timeout)
			r.Local, r.Latency = pong.Local, pong.Latency
			if pong.Err != nil {
				err := failureOf(pong.Err)
				return failedPing(r, err)
			}
			r.State = PingStateOk
			return r
		})
	}
}

// serviceTimeout returns the timeout of a service's operations.
func (c *Cluster) serviceTimeout(service ServiceType) time.Duration {
	t := c.settings.timeouts
	switch service {
	case ServiceTypeKeyValue:
		return t.KVTimeout
	case ServiceTypeViews:
		return t.ViewTimeout
	case ServiceTypeQuery:
		return t.QueryTimeout
	case ServiceTypeSearch:
		return t.SearchTimeout
	case ServiceTypeAnalytics:
		return t.AnalyticsTimeout
	case ServiceTypeManagement:
	}
	return t.ManagementTimeout
}
