package frames

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/interop/couchbase/frames/calls"
)

const nodes = 2

// recording is the packets of each step, as texts, and those of the handshake.
type recording struct {
	Handshake string
	Steps     map[string]string
	Inflated  map[string]string // the same with values that are not compressed
}

// situation is how a client connects, to which cluster, and what it does.
type situation struct {
	mechanisms       []string
	tls, certificate bool
	serverGroup      string
	token            string // "": a password
	user             string // "": the administrator of couchbasetest; else the password is the same text
	withoutTokens    bool
	version          string // of the server, "" for the newest
	steps            []calls.Step
}

// newProxy starts a cluster with a proxy before it, which both end with the test.
func (s *situation) newProxy(t *testing.T) *Proxy {
	t.Helper()
	options := []couchbasetest.Option{couchbasetest.Nodes(nodes), couchbasetest.ServerGroups("first", "second")}
	if s.tls {
		options = append(options, couchbasetest.TLS())
	}
	if s.token != "" {
		options = append(options, couchbasetest.Tokens(s.token))
	}
	if s.user != "" {
		options = append(options, couchbasetest.Credentials(s.user, s.user))
	}
	if s.version != "" {
		options = append(options, couchbasetest.Version(s.version))
	}
	server := couchbasetest.RunT(t, options...)
	if s.version == "" {
		makeCollections(t, server)
	}
	p, err := NewProxy(server, nodes, s.tls)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func makeCollections(t *testing.T, server *couchbasetest.Cluster) {
	t.Helper()
	if _, err := server.CreateScope("default", "scope"); err != nil {
		t.Fatal(err)
	}
	if _, err := server.CreateCollection("default", "scope", couchbasetest.Collection{Name: "many"}); err != nil {
		t.Fatal(err)
	}
	if _, err := server.CreateCollection("default", "_default", couchbasetest.Collection{Name: "plain"}); err != nil {
		t.Fatal(err)
	}
}

// options returns how a client connects to a proxy.
func (s *situation) options(p *Proxy) calls.Options {
	o := calls.Options{Username: p.server.Username(), Password: p.server.Password(), Mechanisms: s.mechanisms, ServerGroup: s.serverGroup, NoTokens: s.withoutTokens}
	if s.tls {
		o.Roots = p.secret.roots
	}
	o.Token = s.token
	if s.certificate {
		o.Certificate = p.secret.certificate
	}
	return o
}

// record connects and returns the packets.
func (s *situation) record(t *testing.T) recording {
	t.Helper()
	p := s.newProxy(t)
	c, end, err := calls.Connect(p.ConnString(), s.options(p))
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	r := recording{Handshake: handshake(p.Take()), Steps: make(map[string]string), Inflated: make(map[string]string)}
	for _, step := range s.steps {
		if _, twice := r.Steps[step.Name]; twice {
			t.Errorf("two steps are called %q", step.Name)
		}
		texts, inflated := packetsOf(t, p, c, step)
		r.Steps[step.Name], r.Inflated[step.Name] = strings.Join(texts, "\n"), strings.Join(inflated, "\n")
	}
	return r
}

// packetsOf runs a step and returns its packets.
func packetsOf(t *testing.T, p *Proxy, c *calls.Client, step calls.Step) (texts, inflated []string) {
	t.Helper()
	p.Take()
	p.Together(step.Together)
	if err := step.Run(c); err != nil {
		t.Errorf("%s: %v", step.Name, err)
	}
	p.Together(0)
	for _, sent := range withoutLate(p.Take(), step.Together > 0) {
		texts = append(texts, text(sent))
		inflated = append(inflated, text(sent.inflated(t)))
	}
	if step.Together > 0 {
		slices.Sort(texts)
		texts = slices.Compact(texts)
	}
	return texts, inflated
}

// inflated returns the request with a value that is not compressed.
func (s Sent) inflated(t *testing.T) Sent {
	t.Helper()
	p, err := memd.Parse(s.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if p.DataType&memd.DataSnappy == 0 {
		return s
	}
	if p.Value, err = memd.Inflate(p.Value); err != nil {
		t.Fatal(err)
	}
	p.DataType &^= memd.DataSnappy
	if s.Bytes, err = p.Append(nil); err != nil {
		t.Fatal(err)
	}
	return s
}

// withoutLate returns the requests for an application without those that look at the copies of the document of an earlier step:
// a client does not wait for all of them. Observes says that this step looks at copies itself.
func withoutLate(all []Sent, observes bool) []Sent {
	vbuckets := make(map[string]bool)
	for _, s := range all {
		if op := memd.Opcode(s.Bytes[1]); forApplication(op) && op != memd.OpObserveSeqno {
			vbuckets[string(s.Bytes[6:8])] = true
		}
	}
	return slices.DeleteFunc(all, func(s Sent) bool {
		op := memd.Opcode(s.Bytes[1])
		return !forApplication(op) || op == memd.OpObserveSeqno && (!observes || !vbuckets[string(s.Bytes[6:8])])
	})
}

// expiryAt returns where a command has an expiry in its extras, or -1.
func expiryAt(p *memd.Packet) int {
	switch p.Opcode { //nolint:exhaustive // the others have no expiry
	case memd.OpSet, memd.OpAdd, memd.OpReplace:
		return 4
	case memd.OpTouch, memd.OpGetAndTouch, memd.OpSubdocMultiMutation:
		return 0
	case memd.OpIncrement, memd.OpDecrement:
		return 16
	default:
		return -1
	}
}

// text is a packet as hexadecimal digits, with words for the opaque, for a CAS that the server chose and for a moment as an expiry: these
// are not the same in two runs. Everything else is there, byte for byte.
func text(s Sent) string {
	p, err := memd.Parse(s.Bytes)
	if err != nil {
		return err.Error()
	}
	cas := hex.EncodeToString(s.Bytes[16:24])
	if s.OwnCAS {
		cas = "CAS of a reply"
	}
	body := hex.EncodeToString(s.Bytes[24:])
	if at := expiryAt(&p); at >= 0 && len(p.Extras) >= at+4 {
		expiry, err := memd.ParseUint32(p.Extras[at : at+4])
		if moment := time.Unix(int64(expiry), 0); err == nil && expiry > 1<<30 && expiry != memd.NoCreate {
			begin := 2 * (len(p.Frames) + at)
			body = fmt.Sprintf("%s(in %v)%s", body[:begin], moment.Sub(s.Time).Round(time.Hour), body[begin+8:])
		}
	}
	node := fmt.Sprint("node ", s.Node)
	if p.Opcode == memd.OpCollectionID {
		node = "any node" // each knows the ids
	}
	if p.Opcode == memd.OpObserveSeqno {
		node = "a copy" // which copies are asked before enough have answered, and how often, depends on their speed
	}
	return fmt.Sprintf("%s: %s opaque %s %s (%v %q)", node, hex.EncodeToString(s.Bytes[:12]), cas, body, p.Opcode, p.Key)
}
