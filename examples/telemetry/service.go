package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/plugin/holdfastotel"
	"github.com/holdfast-db/holdfast/plugin/holdfastprom"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/telemetry"
	"github.com/holdfast-db/holdfast/telemetry/health"
)

// service counts visits.
type service struct {
	spans  *sdktrace.TracerProvider
	set    *mongotest.Deployment // nil: the deployment is not the service's own
	router *router.Router        // nil: the client connects to the deployment itself
	client *mongo.Client
	visits *mongo.Collection
}

func newService(ctx context.Context, uri string, routed bool) (*service, error) {
	s := &service{}
	if err := s.exportSpans(ctx); err != nil {
		return nil, err
	}
	if uri == "" {
		var err error
		if s.set, err = mongotest.RunReplicaSet(3, mongotest.ElectionTimeout(500*time.Millisecond)); err != nil {
			return nil, err
		}
		uri = s.set.URI()
	}
	return s, s.connect(uri, routed) //nolint:contextcheck // Open takes none
}

// exportSpans sets OpenTelemetry up: the plugin uses what is global. Without a collector the spans go nowhere.
func (s *service) exportSpans(ctx context.Context) error {
	s.spans = sdktrace.NewTracerProvider()
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" {
		return nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return err
	}
	s.spans.RegisterSpanProcessor(sdktrace.NewBatchSpanProcessor(exporter, sdktrace.WithBatchTimeout(time.Second)))
	otel.SetTracerProvider(s.spans)
	return nil
}

// connect opens the client with all that there is to see of it.
func (s *service) connect(uri string, routed bool) error {
	traces, err := holdfastotel.New(holdfastotel.Options{Enabled: true})
	if err != nil {
		return err
	}
	metrics := holdfastprom.New()
	prometheus.MustRegister(metrics)
	budget, err := retry.NewBudget(retry.BudgetOptions{Ratio: 0.1, PerSecond: 0.5, Burst: 10})
	if err != nil {
		return err
	}
	tracer := telemetry.Join(traces, metrics.Tracer())
	if routed {
		if uri, err = s.startRouter(uri, tracer); err != nil {
			return err
		}
		tracer = traces // the metrics are those of the router
	}
	s.client, err = mongo.Open(uri, mongo.Config{
		Tracer: tracer,
		Budget: budget, Breaker: retry.DefaultBreakerOptions(),
	})
	if err != nil {
		return err
	}
	s.visits = s.client.Database("app").Collection("visits")
	return nil
}

func (s *service) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /visits", s.visit)
	mux.HandleFunc("POST /failover", s.failover)
	mux.HandleFunc("POST /refuse", s.refuse)
	mux.Handle("GET /metrics", promhttp.Handler())
	mux.Handle("GET /health", health.Handler(s.client.PoolStats))
	return mux
}

// visit counts a visit. The update has a transaction number, so the client may send it again, and the server applies it once.
func (s *service) visit(w http.ResponseWriter, r *http.Request) {
	ctx, span := otel.Tracer("service").Start(r.Context(), "GET /visits")
	defer span.End()
	var after struct{ N int }
	err := s.visits.FindOneAndUpdate(ctx, bson.D{{Key: "_id", Value: "all"}},
		bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}},
		options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After)).Decode(&after)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable) // the text has every attempt
		return
	}
	fmt.Fprintln(w, after.N)
}

// failover lets the primary die while it executes the update of the next visit: its reply is lost.
func (s *service) failover(w http.ResponseWriter, _ *http.Request) {
	s.fault(w, "the primary will die while it executes the next update", mongotest.Fault{After: func() { s.set.Kill(s.set.Primary()) }})
}

// refuse lets the primary refuse the update of the next visit.
func (s *service) refuse(w http.ResponseWriter, _ *http.Request) {
	s.fault(w, "the primary will refuse the next update",
		mongotest.Fault{Error: &mongotest.CommandError{Code: 13, Name: "Unauthorized", Message: "not allowed"}})
}

func (s *service) fault(w http.ResponseWriter, what string, f mongotest.Fault) {
	if s.set == nil {
		http.Error(w, "the deployment is not this service's own", http.StatusConflict)
		return
	}
	s.set.Use("findAndModify", mongotest.FaultOnce(f))
	fmt.Fprintln(w, what)
}

// close ends the client and the deployment, and sends the spans that are left. The context may have ended.
func (s *service) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := s.client.Disconnect(ctx)
	if s.router != nil {
		s.router.Close() //nolint:contextcheck // it takes none
	}
	if s.set != nil {
		err = errors.Join(err, s.set.Close())
	}
	return errors.Join(err, s.spans.Shutdown(ctx))
}
