package inspect

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/mongo"
)

// server asks one server by a connection of its own, without a login: a hello needs none.
func (s *survey) server(ctx context.Context, m *Member) ServerFacts {
	facts := ServerFacts{Address: m.Address, Role: m.Role, Release: m.Release}
	if m.Role == roles[topology.LoadBalancer] {
		facts.ClockErr = errors.New("each connection through a load balancer may be to another server")
		return facts
	}
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	if s.options.TLSConfig != nil {
		facts.CertificateEnd, facts.CertificateErr = s.certificateEnd(ctx, m.Address)
	}
	if m.Error != "" {
		facts.Err = errors.New(m.Error)
		return facts
	}
	o := s.withoutLogin().SetHosts([]string{m.Address}).SetDirect(true).SetServerSelectionTimeout(s.Timeout).SetAppName(s.AppName)
	client, err := mongo.Connect(o)
	if err != nil {
		facts.Err = err
		return facts
	}
	defer func() { _ = client.Disconnect(context.WithoutCancel(ctx)) }()
	facts.Err = s.clock(ctx, client, &facts)
	var build struct{ Version string }
	if facts.Err == nil && s.command(ctx, client, "buildInfo", &build) == nil {
		facts.Release = releaseOf(build.Version)
	}
	return facts
}

// clock compares the server's clock with this machine's. The first command makes the connection, so only the second is measured.
func (s *survey) clock(ctx context.Context, client *mongo.Client, facts *ServerFacts) error {
	var reply struct{ LocalTime *bson.DateTime }
	hello := "hello"
	err := s.command(ctx, client, hello, &reply)
	if isNotFound(err) {
		hello = "isMaster" // its name before 4.4.2
		err = s.command(ctx, client, hello, &reply)
	}
	if err != nil {
		return err
	}
	start := time.Now()
	if err := s.command(ctx, client, hello, &reply); err != nil {
		return err
	}
	half := time.Since(start) / 2
	if reply.LocalTime == nil {
		facts.ClockErr = errors.New("the server does not tell its time")
		return nil
	}
	facts.ClockDifference = reply.LocalTime.Time().Sub(start.Add(half))
	facts.ClockError = half + time.Millisecond // the server's time is in milliseconds
	return nil
}

// certificateEnd makes a TLS connection only to read the server's certificate, whether it is valid or not.
func (s *survey) certificateEnd(ctx context.Context, address string) (time.Time, error) {
	cfg := s.options.TLSConfig.Clone()
	cfg.InsecureSkipVerify = true // nothing is sent
	if host, _, err := net.SplitHostPort(address); err == nil && cfg.ServerName == "" {
		cfg.ServerName = host
	}
	dialer := &tls.Dialer{Config: cfg}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return time.Time{}, err
	}
	defer func() { _ = conn.Close() }()
	secure, _ := conn.(*tls.Conn)
	if certificates := secure.ConnectionState().PeerCertificates; len(certificates) > 0 {
		return certificates[0].NotAfter, nil
	}
	return time.Time{}, errors.New("the server shows no certificate")
}
