// Package cannedkv is a Couchbase node whose replies to key-value requests are bytes made beforehand: only the opaque is set in each. It
// logs clients in and gives them a map of itself, so that every client sends what it sends to a real node. It costs as little as a server
// can; it stores nothing.
package cannedkv

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"

	"github.com/xdg-go/scram"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// What the server knows.
const (
	Bucket   = "bench"
	Username = "user"
	Password = "pencil"
	// Document is what every GET finds.
	Document = `{"name":"Ada Lovelace","born":1815,"city":"London","score":1914.5,"active":true,"tags":["first","paid"]}`

	vbuckets   = 64
	iterations = 4096
	cas        = 0x1122334455667788
)

// Serve serves on a free local port. It writes the address to out, as one line, and serves until in ends: a parent holds the other end of
// in and need not stop the server otherwise.
func Serve(in io.Reader, out io.Writer) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, l.Addr()); err != nil {
		return err
	}
	var serving sync.WaitGroup
	serving.Go(func() { accept(l) })
	_, _ = io.Copy(io.Discard, in)
	_ = l.Close()
	serving.Wait()
	return nil
}

func accept(l net.Listener) {
	for {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		port := l.Addr().(*net.TCPAddr).Port
		go newConn(nc, port).serve()
	}
}

// conn is one connection.
type conn struct {
	nc       net.Conn
	port     int
	accepted memd.Features
	login    *scram.ServerConversation
	get, set []byte
	out      []byte
}

func newConn(nc net.Conn, port int) *conn {
	c := &conn{nc: nc, port: port}
	c.cannedReplies()
	return c
}

// cannedReplies makes the replies for the features that the client asked for.
func (c *conn) cannedReplies() {
	get := memd.Packet{Magic: memd.MagicResponse, Opcode: memd.OpGet, CAS: cas, Extras: []byte{2, 0, 0, 0}, Value: []byte(Document)}
	set := memd.Packet{Magic: memd.MagicResponse, Opcode: memd.OpSet, CAS: cas}
	if c.accepted.Has(memd.FeatureJSON) {
		get.DataType = memd.DataJSON
	}
	if c.accepted.Has(memd.FeatureMutationTokens) {
		set.Extras = memd.AppendMutationToken(nil, memd.MutationToken{VBucketUUID: 1, Seqno: 2})
	}
	if c.accepted.Has(memd.FeatureServerDurations) {
		get.Magic, set.Magic = memd.MagicFlexibleResponse, memd.MagicFlexibleResponse
		get.Frames = memd.AppendServerDuration(nil, 10_000)
		set.Frames = get.Frames
	}
	c.get, c.set = must(get.Append(nil)), must(set.Append(nil))
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err) // the packets are ours
	}
	return b
}

// serve answers all requests of each read by one write. A request must fit the buffer.
func (c *conn) serve() {
	defer func() { _ = c.nc.Close() }()
	buf, got := make([]byte, 256<<10), 0
	for got < len(buf) {
		n, err := c.nc.Read(buf[got:])
		if err != nil {
			return
		}
		got += n
		used := c.answerAll(buf[:got])
		if used < 0 {
			return
		}
		got = copy(buf, buf[used:got])
		if len(c.out) > 0 {
			if _, err := c.nc.Write(c.out); err != nil {
				return
			}
			c.out = c.out[:0]
		}
	}
}

// answerAll answers the requests that are there wholly, and returns their size in bytes, or -1 if the client breaks the protocol.
func (c *conn) answerAll(b []byte) (used int) {
	for len(b)-used >= memd.HeaderLength {
		n, err := memd.PacketLength(b[used:])
		if err != nil {
			return -1
		}
		if len(b)-used < n {
			break
		}
		c.answer(b[used : used+n])
		used += n
	}
	return used
}

func (c *conn) answer(b []byte) {
	var canned []byte
	switch memd.Opcode(b[1]) { //nolint:exhaustive // the others are answered by answerRarely
	case memd.OpGet:
		canned = c.get
	case memd.OpSet:
		canned = c.set
	default:
		c.answerRarely(b)
		return
	}
	at := len(c.out)
	c.out = append(c.out, canned...)
	copy(c.out[at+12:at+16], b[12:16])
}

// answerRarely answers a request that is not measured.
func (c *conn) answerRarely(b []byte) {
	p, err := memd.Parse(b)
	if err != nil {
		return
	}
	r := memd.Packet{Magic: memd.MagicResponse, Opcode: p.Opcode, Opaque: p.Opaque}
	switch p.Opcode { //nolint:exhaustive // the others are unknown
	case memd.OpHello:
		r.Value = c.hello(p.Value)
	case memd.OpGetErrorMap:
		r.Value = []byte(`{"version":2,"revision":1,"errors":{}}`)
	case memd.OpSASLListMechanisms:
		r.Value = []byte("SCRAM-SHA512 SCRAM-SHA256 SCRAM-SHA1 PLAIN")
	case memd.OpSASLAuth, memd.OpSASLStep:
		r.Status, r.Value = c.authenticate(&p)
	case memd.OpSelectBucket, memd.OpNoop:
	case memd.OpGetClusterConfig:
		r.Value = c.clusterMap()
	default:
		r.Status = memd.StatusUnknownCommand
	}
	c.out = must(r.Append(c.out))
}

// hello accepts what does not change the bytes of a request that is measured, but for collections.
func (c *conn) hello(asked []byte) []byte {
	for ; len(asked) >= 2; asked = asked[2:] {
		switch f := memd.Feature(binary.BigEndian.Uint16(asked)); f { //nolint:exhaustive // the others are not accepted
		case memd.FeatureXattr, memd.FeatureXerror, memd.FeatureSelectBucket, memd.FeatureJSON, memd.FeatureMutationTokens,
			memd.FeatureUnorderedExecution, memd.FeatureServerDurations, memd.FeatureFlexibleRequests, memd.FeatureCollections, memd.FeatureDuplex:
			c.accepted.Add(f)
		}
	}
	c.cannedReplies()
	var accepted []memd.Feature
	for f := memd.Feature(0); f < 64; f++ {
		if c.accepted.Has(f) {
			accepted = append(accepted, f)
		}
	}
	return memd.AppendFeatures(nil, accepted...)
}

func (c *conn) authenticate(p *memd.Packet) (memd.Status, []byte) {
	if string(p.Key) == "PLAIN" {
		return memd.StatusSuccess, nil
	}
	if p.Opcode == memd.OpSASLAuth {
		c.login = scramServer(string(p.Key))
	}
	if c.login == nil {
		return memd.StatusAuthError, nil
	}
	answer, err := c.login.Step(string(p.Value))
	switch {
	case err != nil:
		return memd.StatusAuthError, nil
	case c.login.Done():
		return memd.StatusSuccess, []byte(answer)
	}
	return memd.StatusAuthContinue, []byte(answer)
}

func scramServer(mechanism string) *scram.ServerConversation {
	hash, ok := map[string]scram.HashGeneratorFcn{"SCRAM-SHA512": scram.SHA512, "SCRAM-SHA256": scram.SHA256, "SCRAM-SHA1": scram.SHA1}[mechanism]
	if !ok {
		return nil
	}
	client, err := hash.NewClientUnprepped(Username, Password, "")
	if err != nil {
		return nil
	}
	known, err := client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: "salt", Iters: iterations})
	if err != nil {
		return nil
	}
	server, err := hash.NewServer(func(string) (scram.StoredCredentials, error) { return known, nil })
	if err != nil {
		return nil
	}
	return server.NewConversation()
}

// clusterMap returns a map with this server as the only node.
func (c *conn) clusterMap() []byte {
	rows := strings.TrimSuffix(strings.Repeat("[0],", vbuckets), ",")
	return fmt.Appendf(nil, `{"rev":1,"revEpoch":1,"name":%q,"uuid":"1","nodeLocator":"vbucket","bucketCapabilities":["collections"],`+
		`"nodes":[{"hostname":"127.0.0.1:8091","ports":{"direct":%d}}],`+
		`"nodesExt":[{"hostname":"127.0.0.1","thisNode":true,"services":{"kv":%d,"mgmt":8091}}],`+
		`"vBucketServerMap":{"hashAlgorithm":"CRC","numReplicas":0,"serverList":["127.0.0.1:%d"],"vBucketMap":[%s]}}`,
		Bucket, c.port, c.port, c.port, rows)
}
