// Command telemetry is an HTTP service that counts visits in MongoDB, and shows what its client does: traces for an OpenTelemetry collector, metrics for
// Prometheus, and a health check. It is a module of its own, because it needs the SDK of OpenTelemetry and the client library of Prometheus:
//
//	go -C examples/telemetry run . -listen localhost:8080
//	curl localhost:8080/visits              # counts a visit
//	curl -X POST localhost:8080/failover    # the primary dies while it executes the next visit's update
//	curl -X POST localhost:8080/refuse      # it refuses the next visit's update
//	curl localhost:8080/metrics
//	curl localhost:8080/health
//
// With -router the client reaches the servers through a router in this process, which has spans and the metrics of its own.
//
// Without -uri it runs a replica set of its own. If OTEL_EXPORTER_OTLP_ENDPOINT names a collector, for example http://localhost:4318, that gets the
// spans, under the name of service that OTEL_SERVICE_NAME has. A visit that finds no server fails after 30 seconds, and /health says "down" at once.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	listen := flag.String("listen", "localhost:8080", "the address of the service")
	uri := flag.String("uri", "", "the connection string of a MongoDB deployment; empty: one of the service's own")
	routed := flag.Bool("router", false, "reach the deployment through a router in this process")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *listen, *uri, *routed); err != nil {
		log.Fatal(err) //nolint:gocritic // the process ends
	}
}

// run serves until ctx ends.
func run(ctx context.Context, listen, uri string, routed bool) (err error) {
	s, err := newService(ctx, uri, routed)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	server := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err = <-ended:
		return err
	case <-ctx.Done():
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return server.Shutdown(limited)
	}
}
