package holdfastotel

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestTheAddressOfAServer(t *testing.T) {
	for address, want := range map[string]string{
		"db.example.com:27017":     "[{server.address db.example.com} {server.port 27017} {network.transport tcp}]",
		"[::1]:27018":              "[{server.address ::1} {server.port 27018} {network.transport tcp}]",
		"/tmp/mongodb-27017.sock":  "[{server.address /tmp/mongodb-27017.sock} {network.transport unix}]",
		"/tmp/a:b/mongodb-27.sock": "[{server.address /tmp/a:b/mongodb-27.sock} {network.transport unix}]",
	} {
		var got string
		for _, a := range ofAddress(address) {
			got += " {" + string(a.Key) + " " + a.Value.String() + "}"
		}
		if got = "[" + got[1:] + "]"; got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

func TestTheTextOfASession(t *testing.T) {
	id := []byte{0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}
	if got := sessionText(id); got != "00112233-4455-6677-8899-aabbccddeeff" {
		t.Error(got)
	}
	if got := sessionText(id[:2]); got != "0011" {
		t.Error(got)
	}
}

func TestWhatTheTextOfACommandLeavesOut(t *testing.T) {
	command, err := bson.Marshal(bson.D{
		{Key: "insert", Value: "c"},
		{Key: "lsid", Value: 1},
		{Key: "$clusterTime", Value: 1},
		{Key: "signature", Value: 1},
		{Key: "$db", Value: "d"},
		{Key: "documents", Value: bson.A{bson.D{{Key: "lsid", Value: int64(1)}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := queryText(command, 1000); got != `{"insert":"c","documents":[{"lsid":1}]}` {
		t.Error(got)
	}
	if got := queryText([]byte{1, 2}, 1000); got != "" {
		t.Error(got)
	}
}
