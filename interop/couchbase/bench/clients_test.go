package bench

import (
	"encoding/json"
	"io"
	"net"
	"testing"
	"time"

	"github.com/couchbase/gocb/v2"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/interop/internal/cannedkv"
)

const key = "customer::1815"

// work is what is measured.
type work struct {
	name string
	get  bool // Get, or else Upsert of a struct
	into bool // the document that was got is decoded into a struct
}

var works = []work{{"get", true, false}, {"get-decoded", true, true}, {"upsert", false, false}}

// client does the work once; many goroutines call it.
type client func(work) error

// features are those that are measured: the ones that gocb asks for and the canned node accepts.
var features = []memd.Feature{
	memd.FeatureXattr, memd.FeatureXerror, memd.FeatureSelectBucket, memd.FeatureJSON, memd.FeatureMutationTokens, memd.FeatureDuplex,
	memd.FeatureUnorderedExecution, memd.FeatureServerDurations, memd.FeatureFlexibleRequests, memd.FeatureCollections,
}

func connectKV(t *testing.T, address string) client {
	t.Helper()
	login, err := kv.NewLogin(kv.Credential{Username: cannedkv.Username, Password: cannedkv.Password})
	if err != nil {
		t.Fatal(err)
	}
	c, err := kv.Connect(t.Context(), &kv.Config{Agent: "kvbench", Features: features, Login: login}, address, cannedkv.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(nil) })
	return func(w work) error {
		r := request(w.get)
		r.Deadline = time.Now().Add(2500 * time.Millisecond)
		var reply kv.Reply
		return c.RoundTrip(&r, &reply)
	}
}

func request(get bool) kv.Request {
	r := kv.Request{Opcode: memd.OpGet, Collection: []byte{0}, Key: []byte(key), VBucket: 17}
	if !get {
		r.Opcode, r.Extras, r.Value = memd.OpSet, memd.AppendStore(nil, 0x0200_0000, 0), []byte(cannedkv.Document)
	}
	return r
}

// raw is a bare socket after a handshake.
type raw struct {
	nc       net.Conn
	get, set []byte // requests
	got, put int    // the sizes of the replies
}

func connectRaw(t *testing.T, address string) *raw {
	t.Helper()
	nc, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	r := &raw{nc: nc}
	hello := memd.Packet{Magic: memd.MagicRequest, Opcode: memd.OpHello, Value: memd.AppendFeatures(nil, features...)}
	r.exchange(t, &hello)
	for _, get := range []bool{true, false} {
		q := request(get)
		p := memd.Packet{
			Magic: memd.MagicRequest, Opcode: q.Opcode, VBucket: q.VBucket, Extras: q.Extras, Key: append(q.Collection, q.Key...), Value: q.Value,
		}
		request, size := r.exchange(t, &p)
		if get {
			r.get, r.got = request, size
		} else {
			r.set, r.put = request, size
		}
	}
	return r
}

// exchange sends one request and returns its bytes and the size of the reply.
func (r *raw) exchange(t *testing.T, p *memd.Packet) (request []byte, size int) {
	t.Helper()
	request, err := p.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.nc.Write(request); err != nil {
		t.Fatal(err)
	}
	b, err := memd.Read(r.nc, nil)
	if err != nil {
		t.Fatal(err)
	}
	return request, len(b)
}

// trip sends n requests in one write and reads all replies.
func (r *raw) trip(get bool, n int, buf []byte) error {
	request, size := r.set, r.put
	if get {
		request, size = r.get, r.got
	}
	out := buf[:0]
	for range n {
		out = append(out, request...)
	}
	if _, err := r.nc.Write(out); err != nil {
		return err
	}
	_, err := io.ReadFull(r.nc, buf[:n*size])
	return err
}

// person is the document as an application has it.
type person struct {
	Name   string   `json:"name"`
	Born   int      `json:"born"`
	City   string   `json:"city"`
	Score  float64  `json:"score"`
	Active bool     `json:"active"`
	Tags   []string `json:"tags"`
}

func readPerson(t *testing.T) *person {
	t.Helper()
	p := new(person)
	if err := json.Unmarshal([]byte(cannedkv.Document), p); err != nil {
		t.Fatal(err)
	}
	return p
}

const timeToConnect = 10 * time.Second

func connectCouchbase(t *testing.T, address string) client {
	t.Helper()
	cluster, err := couchbase.Connect("couchbase://"+address, couchbase.ClusterOptions{
		Authenticator:  couchbase.PasswordAuthenticator{Username: cannedkv.Username, Password: cannedkv.Password},
		TimeoutsConfig: couchbase.TimeoutsConfig{KVTimeout: time.Minute}, // the machine may be busy
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Close(nil) })
	bucket := cluster.Bucket(cannedkv.Bucket)
	err = bucket.WaitUntilReady(timeToConnect, &couchbase.WaitUntilReadyOptions{ServiceTypes: []couchbase.ServiceType{couchbase.ServiceTypeKeyValue}})
	if err != nil {
		t.Fatal(err)
	}
	collection, value := bucket.DefaultCollection(), readPerson(t)
	return func(w work) error {
		if w.get {
			result, err := collection.Get(key, nil)
			if err != nil || !w.into {
				return err
			}
			var p person
			return result.Content(&p)
		}
		_, err := collection.Upsert(key, value, nil)
		return err
	}
}

func connectGocb(t *testing.T, address string) client {
	t.Helper()
	cluster, err := gocb.Connect("couchbase://"+address, gocb.ClusterOptions{
		Authenticator:  gocb.PasswordAuthenticator{Username: cannedkv.Username, Password: cannedkv.Password},
		TimeoutsConfig: gocb.TimeoutsConfig{KVTimeout: time.Minute}, // the machine may be busy
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Close(nil) })
	bucket := cluster.Bucket(cannedkv.Bucket)
	err = bucket.WaitUntilReady(timeToConnect, &gocb.WaitUntilReadyOptions{ServiceTypes: []gocb.ServiceType{gocb.ServiceTypeKeyValue}})
	if err != nil {
		t.Fatal(err)
	}
	collection, value := bucket.DefaultCollection(), readPerson(t)
	return func(w work) error {
		if w.get {
			result, err := collection.Get(key, nil)
			if err != nil || !w.into {
				return err
			}
			var p person
			return result.Content(&p)
		}
		_, err := collection.Upsert(key, value, nil)
		return err
	}
}
