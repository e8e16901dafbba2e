package main

import (
	"net"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/telemetry"
)

// startRouter starts a router in front of a deployment, which tells a tracer what it does there, and returns its connection string. The program
// holdfast router serves the metrics itself, without these plugins; its package cannot be imported by other modules yet.
func (s *service) startRouter(upstream string, tracer *telemetry.Tracer) (uri string, err error) {
	s.router, err = router.New(router.Config{Upstream: options.Client().ApplyURI(upstream), Tracer: tracer})
	if err != nil {
		return "", err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() { _ = s.router.Serve(l) }() // until it is closed
	return "mongodb://" + l.Addr().String() + "/", nil
}
