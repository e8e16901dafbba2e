package drivererror

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"io"
	"math/big"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver"
	xocsp "go.mongodb.org/mongo-driver/v2/x/mongo/driver/ocsp"
	xtopology "go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

func TestAnErrorReplyHasTheFieldsOfADriverError(t *testing.T) {
	process := bson.NewObjectID()
	raw, err := bson.Marshal(bson.D{
		{Key: "ok", Value: 0},
		{Key: "baseBackoffMS", Value: 70},
		{Key: "topologyVersion", Value: bson.D{{Key: "processId", Value: process}, {Key: "counter", Value: int64(5)}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var e driver.Error
	if !AsError(&e, &official.CommandError{Code: 7, Name: "N", Message: "m", Labels: []string{"l"}, Raw: raw, Wrapped: io.EOF}) {
		t.Fatal("it is not found")
	}
	if e.Code != 7 || e.Name != "N" || e.Message != "m" || !e.HasErrorLabel("l") || !errors.Is(e, io.EOF) || len(e.Raw) != len(raw) ||
		e.BaseBackoff != 70*time.Millisecond || e.TopologyVersion == nil || e.TopologyVersion.ProcessID != process || e.TopologyVersion.Counter != 5 {
		t.Errorf("%+v", e)
	}
	if AsError(&e, &official.CommandError{}); e.TopologyVersion != nil || e.BaseBackoff != 0 || e.Wrapped != nil {
		t.Errorf("without a reply: %+v", e)
	}
}

func TestOnlyTheTypeThatIsAskedForIsSet(t *testing.T) {
	d := &topology.Description{Type: topology.Sharded, Servers: []*topology.Server{{Address: "a:1", Type: topology.Mongos, MaxWireVersion: 21}}}
	var selection xtopology.ServerSelectionError
	if !AsSelection(&selection, d, context.Canceled) || selection.Desc.Kind.String() != "Sharded" || len(selection.Desc.Servers) != 1 ||
		selection.Desc.Servers[0].Addr != "a:1" || selection.Desc.Servers[0].WireVersion.Max != 21 || !errors.Is(selection, context.Canceled) {
		t.Errorf("%+v", selection)
	}
	var connection xtopology.ConnectionError
	if !AsConnection(&connection, "a:1[-3]", io.EOF) || connection.ConnectionID != "a:1[-3]" || !errors.Is(connection, io.EOF) {
		t.Errorf("%+v", connection)
	}
	var queue xtopology.WaitQueueTimeoutError
	if !AsQueueTimeout(&queue, context.DeadlineExceeded) || !errors.Is(queue, context.DeadlineExceeded) {
		t.Errorf("%+v", queue)
	}
	other := new(driver.WriteCommandError)
	if AsSelection(other, nil, nil) || AsConnection(other, "", nil) || AsQueueTimeout(other, nil) || AsError(other, nil) {
		t.Error("another type is set")
	}
	if AsSelection(&selection, nil, nil); len(selection.Desc.Servers) != 0 {
		t.Errorf("without a description: %+v", selection)
	}
}

func TestTheOfficialErrorOfARevokedCertificate(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(7), ExtraExtensions: []pkix.Extension{
		{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 24}, Value: []byte{0x30, 3, 2, 1, 5}}, // it demands a stapled answer
	}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	var revoked *xocsp.Error
	if !AsRevoked(&revoked, certificate) || revoked.Error() != "OCSP verification failed: certificate is revoked" {
		t.Errorf("%v", revoked)
	}
	if AsRevoked(new(driver.WriteCommandError), certificate) {
		t.Error("another type is set")
	}
}
