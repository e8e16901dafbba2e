package mongotest_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest"
)

func TestTheOfficialDriverCompresses(t *testing.T) {
	for _, name := range []string{"snappy", "zlib", "zstd"} {
		t.Run(name, func(t *testing.T) {
			rs := mongotest.RunReplicaSetT(t, 1)
			client := must[*mongo.Client](t)(mongo.Connect(options.Client().ApplyURI(rs.URI() + "&compressors=" + name)))
			defer func() { _ = client.Disconnect(context.Background()) }()
			c := client.Database("db").Collection("c")
			text := strings.Repeat("holdfast ", 1000)
			for i := range 3 {
				if _, err := c.InsertOne(context.Background(), bson.M{"_id": i, "text": text}); err != nil {
					t.Fatal(err)
				}
			}
			var all []bson.M
			cursor := must[*mongo.Cursor](t)(c.Find(context.Background(), bson.D{}, options.Find().SetBatchSize(1)))
			if err := cursor.All(context.Background(), &all); err != nil || len(all) != 3 || all[2]["text"] != text {
				t.Errorf("%d documents, %v", len(all), err)
			}
		})
	}
}

// ask sends a message that is compressed with c, and returns the reply as it came and its document.
func ask(t *testing.T, conn io.ReadWriter, codec *wire.Codec, with wire.Compressor, command string) ([]byte, bson.Raw) {
	t.Helper()
	body, err := bson.Marshal(j("%s", command))
	if err != nil {
		t.Fatal(err)
	}
	at, message := wire.BeginMsg(nil, 1, 0, 0)
	message, err = codec.Compress(nil, wire.EndMessage(append(message, body...), at), with)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write(message); err != nil {
		t.Fatal(err)
	}
	reply, err := wire.ReadMessage(conn, nil, wire.MaxMessageLength)
	if err != nil {
		return nil, nil
	}
	inner := reply
	if h, _ := wire.ParseHeader(reply); h.OpCode == wire.OpCompressed {
		if inner, _, err = codec.Decompress(nil, reply, wire.MaxMessageLength); err != nil {
			t.Fatal(err)
		}
	}
	m, err := wire.ParseMsg(inner)
	if err != nil {
		t.Fatal(err)
	}
	return reply, bson.Raw(bytes.Clone(m.Body))
}

func TestAnAnswerIsCompressedAsItsQuestionWas(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		var codec wire.Codec
		for _, with := range []wire.Compressor{wire.Snappy, wire.Zlib, wire.Zstd} {
			c := dial(t, rs, 0)
			reply, doc := ask(t, c.conn, &codec, with, `{"ping": 1, "$db": "admin"}`)
			if h, _ := wire.ParseHeader(reply); h.OpCode != wire.OpCompressed || reply[wire.HeaderLength+8] != byte(with) {
				t.Errorf("a ping compressed by %d is answered with operation %d", with, h.OpCode)
			}
			if doc.Lookup("ok").Double() != 1 {
				t.Errorf("the answer is %v", doc)
			}
			reply, doc = ask(t, c.conn, &codec, with, `{"hello": 1, "$db": "admin"}`)
			if h, _ := wire.ParseHeader(reply); h.OpCode != wire.OpMsg || !doc.Lookup("isWritablePrimary").Boolean() {
				t.Errorf("a hello is answered with operation %d, %v; it may not be compressed", h.OpCode, doc)
			}
		}
	})
}

func TestHelloNamesTheCompressorsThatBothSidesHave(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.Compressors("zlib", "snappy"))
	c := dial(t, rs, 0)
	hello := c.ok(`{"hello": 1, "compression": ["zstd", "snappy", "lzma", "zlib"], "$db": "admin"}`)
	if got := hello.Lookup("compression").String(); got != `["snappy","zlib"]` {
		t.Errorf("compression is %s", got)
	}
	if _, err := c.ok(`{"hello": 1, "compression": ["zstd"], "$db": "admin"}`).LookupErr("compression"); err == nil {
		t.Error("with nothing in common compression is there")
	}
	var codec wire.Codec
	if reply, _ := ask(t, c.conn, &codec, wire.Zstd, `{"ping": 1, "$db": "admin"}`); reply != nil {
		t.Error("a compressor that the server has not got was answered")
	}
	dial(t, rs, 0).ok(`{"ping": 1, "$db": "admin"}`) // it ended that connection alone
}

func TestAnUnknownCompressorIsRefused(t *testing.T) {
	if _, err := mongotest.RunReplicaSet(1, mongotest.InMemory(), mongotest.Compressors("lzma")); err == nil || !strings.Contains(err.Error(), "lzma") {
		t.Errorf("%v", err)
	}
}

// An old operation that expects a reply gets an error; one that expects none ends its connection.
func TestOldOperations(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	for op, want := range map[int32]string{2004: "OP_QUERY is no longer supported", 2005: "OP_GET_MORE is no longer supported", 2001: "", 2002: "", 2006: "", 2007: "", 999: ""} {
		c := dial(t, rs, 0)
		message := make([]byte, wire.HeaderLength, 64)
		message = append(message, 0, 0, 0, 0)
		message = append(message, "db.c\x00"...)
		message = append(message, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff)
		message = append(message, 5, 0, 0, 0, 0)
		binary.LittleEndian.PutUint32(message, uint32(len(message)))
		binary.LittleEndian.PutUint32(message[12:], uint32(op))
		if _, err := c.conn.Write(message); err != nil {
			t.Fatal(err)
		}
		reply, err := wire.ReadMessage(c.conn, nil, wire.MaxMessageLength)
		if want == "" {
			if !errors.Is(err, io.EOF) {
				t.Errorf("operation %d: %v", op, err)
			}
			continue
		}
		doc, parseErr := wire.ParseReply(reply)
		if parseErr != nil || reply[wire.HeaderLength]&2 == 0 || !strings.Contains(bson.Raw(doc).Lookup("$err").StringValue(), want) {
			t.Errorf("operation %d: %v %v, %v", op, bson.Raw(doc), parseErr, err)
		}
	}
}
