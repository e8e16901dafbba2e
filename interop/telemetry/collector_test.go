package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

// collector is an OpenTelemetry collector that keeps the spans that it gets.
type collector struct {
	address string

	mu    sync.Mutex
	spans []ptrace.Span
	news  chan struct{} // has room for one: there are new spans
}

// kept is the type of the exporter that keeps spans.
var kept = component.MustNewType("kept")

func startCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{address: freeAddress(t), news: make(chan struct{}, 1)}
	config := fmt.Sprintf(`yaml:{receivers: {otlp: {protocols: {http: {endpoint: "%s"}}}}, exporters: {kept: {}},`+
		` service: {telemetry: {logs: {level: error}, metrics: {level: none}}, pipelines: {traces: {receivers: [otlp], exporters: [kept]}}}}`, c.address)
	run, err := otelcol.NewCollector(otelcol.CollectorSettings{
		BuildInfo: component.NewDefaultBuildInfo(), Factories: c.factories, DisableGracefulShutdown: true,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			URIs: []string{config}, ProviderFactories: []confmap.ProviderFactory{yamlprovider.NewFactory()},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- run.Run(context.Background()) }()
	t.Cleanup(func() {
		run.Shutdown()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	c.await(t)
	return c
}

// await waits until the collector listens.
func (c *collector) await(t *testing.T) {
	t.Helper()
	tries := time.NewTicker(10 * time.Millisecond)
	defer tries.Stop()
	for limit := time.After(patience); ; {
		if conn, err := net.Dial("tcp", c.address); err == nil {
			conn.Close()
			return
		}
		select {
		case <-tries.C:
		case <-limit:
			t.Fatal("the collector does not listen")
		}
	}
}

func (c *collector) factories() (otelcol.Factories, error) {
	receivers, err := otelcol.MakeFactoryMap[receiver.Factory](otlpreceiver.NewFactory())
	if err != nil {
		return otelcol.Factories{}, err
	}
	exporters, err := otelcol.MakeFactoryMap(exporter.NewFactory(kept, func() component.Config { return &struct{}{} },
		exporter.WithTraces(func(context.Context, exporter.Settings, component.Config) (exporter.Traces, error) {
			return exportedTo{c}, nil
		}, component.StabilityLevelStable)))
	return otelcol.Factories{Receivers: receivers, Exporters: exporters, Telemetry: otelconftelemetry.NewFactory()}, err
}

// exportedTo is the exporter of a collector.
type exportedTo struct{ *collector }

func (exportedTo) Start(context.Context, component.Host) error { return nil }
func (exportedTo) Shutdown(context.Context) error              { return nil }
func (exportedTo) Capabilities() consumer.Capabilities         { return consumer.Capabilities{} }

// ConsumeTraces keeps all spans.
func (e exportedTo) ConsumeTraces(_ context.Context, traces ptrace.Traces) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, resource := range traces.ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			for _, span := range scope.Spans().All() {
				made := ptrace.NewSpan()
				span.CopyTo(made)
				e.spans = append(e.spans, made)
			}
		}
	}
	select {
	case e.news <- struct{}{}:
	default:
	}
	return nil
}

// trees returns the traces whose root is a wanted one, in the order in which they began.
func (c *collector) trees(wanted func(root ptrace.Span) bool) []*tree {
	c.mu.Lock()
	defer c.mu.Unlock()
	children := make(map[pcommon.SpanID][]ptrace.Span)
	for _, span := range c.spans {
		children[span.ParentSpanID()] = append(children[span.ParentSpanID()], span)
	}
	for _, list := range children {
		slices.SortFunc(list, func(a, b ptrace.Span) int { return cmp.Compare(a.StartTimestamp(), b.StartTimestamp()) })
	}
	var trees []*tree
	for _, root := range children[pcommon.SpanID{}] {
		if wanted(root) {
			trees = append(trees, &tree{root, children})
		}
	}
	return trees
}

// tree is a trace.
type tree struct {
	root     ptrace.Span
	children map[pcommon.SpanID][]ptrace.Span
}

func (t *tree) below(s ptrace.Span) []ptrace.Span { return t.children[s.SpanID()] }

// freeAddress returns an address of this machine that nothing listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
