package mongo_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// answer answers a DNS query from the zone.
func (z *zone) answer(query []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil || len(m.Questions) != 1 {
		return nil, errors.New("not one question")
	}
	q := m.Questions[0]
	m.Response, m.Additionals, m.RCode = true, nil, dnsmessage.RCodeNameError
	name := strings.ToLower(strings.TrimSuffix(q.Name.String(), "."))
	z.mu.Lock()
	defer z.mu.Unlock()
	header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 86400}
	switch q.Type { //nolint:exhaustive // the others are only counted
	case dnsmessage.TypeSRV:
		for _, record := range z.srv[name] {
			host, port, _ := net.SplitHostPort(record)
			n, _ := strconv.ParseUint(port, 10, 16)
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.SRVResource{Port: uint16(n), Target: dnsmessage.MustNewName(host + ".")}})
		}
	case dnsmessage.TypeTXT:
		for _, record := range z.txt[name] {
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.TXTResource{TXT: []string{record}}})
		}
	default:
		z.others++
	}
	if len(m.Answers) > 0 {
		m.RCode = dnsmessage.RCodeSuccess
	}
	return m.Pack()
}

// serve answers the queries of a stream, each of which follows its length.
func (z *zone) serve(conn net.Conn) {
	defer conn.Close()
	for {
		var length [2]byte
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(length[:]))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		reply, err := z.answer(query)
		if err != nil {
			return
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
			return
		}
	}
}

// asDefaultResolver makes package net ask the zone until the test ends, through a name server on UDP.
func asDefaultResolver(t *testing.T, z *zone) {
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		b := make([]byte, 4096)
		for {
			n, from, err := server.ReadFrom(b)
			if err != nil {
				return
			}
			if reply, err := z.answer(b[:n]); err == nil {
				_, _ = server.WriteTo(reply, from)
			}
		}
	}()
	useResolver(t, func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", server.LocalAddr().String())
	})
}

func useResolver(t *testing.T, dial func(context.Context, string, string) (net.Conn, error)) {
	before := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = before })
	net.DefaultResolver = &net.Resolver{PreferGo: true, StrictErrors: true, Dial: dial}
}

// ApplyURI itself asks net.DefaultResolver. The test is not parallel, because that variable is everybody's.
func TestConnectWithAnSRVConnectionStringOfApplyURI(t *testing.T) {
	asDefaultResolver(t, published())
	set, err := mongotest.RunSharded(1, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	client, err := mongo.Connect(options.Client().ApplyURI(test1URI).SetDialer(mongosAt(set)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	if err := client.Ping(context.Background(), nil); err != nil {
		t.Error(err)
	}
	if got := client.Hosts(); !slices.Equal(got, []string{h17, h18}) {
		t.Errorf("the hosts are %v", got)
	}
}

// The SRV and TXT records are looked up by ApplyURI. Nothing else is, and no server is dialed.
func TestConnectRefusesAnSRVConnectionString(t *testing.T) {
	z := published()
	asDefaultResolver(t, z)
	for _, c := range []struct {
		name, uri string
		given     *options.ClientOptions
		want      string
	}{
		{"without records", "mongodb+srv://test4" + testDomain + "/?tls=false", nil, "no such host"},
		{"with a wrong record", "mongodb+srv://test14" + testDomain + "/?tls=false", nil, "domain"},
		{"with a direct connection given in code", "mongodb+srv://test3" + testDomain + "/?tls=false", options.Client().SetDirect(true), "direct connection"},
		{"with a negative SRVMaxHosts given in code", test1URI, options.Client().SetSRVMaxHosts(-1), "SRVMaxHosts is -1"},
		{"with a wrong SRVServiceName given in code", test1URI, options.Client().SetSRVServiceName("a b"), `SRVServiceName is "a b"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, o := &networkUse{}, options.Client().ApplyURI(c.uri)
			err := refused(t, n, func() (*mongo.Client, error) { return mongo.Connect(o, c.given, options.Client().SetDialer(n)) })
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.others != 0 {
		t.Errorf("there were %d look-ups of other records than SRV and TXT", z.others)
	}
}

// The records of a connection string that ApplyURI has resolved are polled too, with the resolver that is the default then.
func TestSRVRecordsOfApplyURIArePolled(t *testing.T) {
	z := published()
	asDefaultResolver(t, z)
	for name, c := range map[string]struct {
		o      *options.ClientOptions
		record string
		hosts  int
	}{
		"all records":             {options.Client().ApplyURI(test1URI), test1, 3},
		"srvMaxHosts":             {options.Client().ApplyURI(test1URI + "&srvMaxHosts=2"), test1, 2},
		"srvServiceName":          {options.Client().ApplyURI(test22URI), "_customname._tcp.test22" + testDomain, 3},
		"a database":              {options.Client().ApplyURI("mongodb+srv://test1" + testDomain + "/db?tls=false"), test1, 3},
		"a host in capitals, too": {options.Client().ApplyURI("mongodb+srv://TEST1" + testDomain + "/?tls=false"), test1, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				useResolver(t, func(context.Context, string, string) (net.Conn, error) {
					client, server := memnet.Pipe()
					go z.serve(server)
					return client, nil
				})
				set, err := mongotest.RunSharded(1, 4, mongotest.InMemory())
				if err != nil {
					t.Fatal(err)
				}
				defer set.Close()
				client, err := mongo.Connect(c.o, options.Client().SetDialer(mongosAt(set)))
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = client.Disconnect(context.Background()) }()
				before := client.Hosts()
				z.set(c.record, h17, h19, h20)
				defer z.set(c.record, h17, h18)
				wait(2 * rescan)
				if got := client.Hosts(); len(got) != c.hosts || !slices.Contains(got, h17) && slices.Contains(before, h17) || slices.Contains(got, h18) {
					t.Errorf("the hosts are %v", got)
				}
			})
		})
	}
}
