package mongotest_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/xdg-go/scram"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// saslStart sends the first message of a login, and returns the answer's payload and the code of an error.
func (c *rawClient) saslStart(mechanism string, payload any) ([]byte, int64) {
	c.t.Helper()
	return c.sasl(`{"saslStart": 1, "mechanism": "`+mechanism+`", "payload": %s, "$db": "$external"}`, payload)
}

// saslContinue sends the next message.
func (c *rawClient) saslContinue(payload any) ([]byte, int64) {
	c.t.Helper()
	return c.sasl(`{"saslContinue": 1, "conversationId": 1, "payload": %s, "$db": "$external"}`, payload)
}

func (c *rawClient) sasl(command string, payload any) ([]byte, int64) {
	c.t.Helper()
	binary := fmt.Sprintf(`{"$binary": {"base64": "%s", "subType": "00"}}`, base64.StdEncoding.EncodeToString(must[[]byte](c.t)(bson.Marshal(payload))))
	reply := c.run(command, binary)
	code, _ := reply.Lookup("code").AsInt64OK()
	_, answer, _ := reply.Lookup("payload").BinaryOK()
	return answer, code
}

// awsFirst is the client's first message.
func awsFirst(nonce []byte, flag int32) bson.D {
	return bson.D{{Key: "r", Value: nonce}, {Key: "p", Value: flag}}
}

// awsSecond is its second, which the owner of the key "id" has signed.
func awsSecond(t *testing.T, nonce []byte, at time.Time) bson.D {
	t.Helper()
	const body = "Action=GetCallerIdentity&Version=2011-06-15"
	request := must[*http.Request](t)(http.NewRequest(http.MethodPost, "https://sts.amazonaws.com/", strings.NewReader(body)))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("X-MongoDB-Server-Nonce", base64.StdEncoding.EncodeToString(nonce))
	request.Header.Set("X-MongoDB-GS2-CB-Flag", "n")
	hash := sha256.Sum256([]byte(body))
	keys := aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}
	if err := signer.NewSigner().SignHTTP(t.Context(), keys, request, hex.EncodeToString(hash[:]), "sts", "us-east-1", at.UTC()); err != nil {
		t.Fatal(err)
	}
	return bson.D{{Key: "a", Value: request.Header.Get("Authorization")}, {Key: "d", Value: request.Header.Get("X-Amz-Date")}}
}

// Source: Driver Authentication, "MONGODB-AWS"; a signature is good for 15 minutes (Signature Version 4).
func TestTheMessagesOfMONGODBAWS(t *testing.T) {
	nonce := bytes.Repeat([]byte{7}, 32)
	for _, c := range []struct {
		name    string
		first   bson.D
		signed  time.Duration               // before now
		changed func(nonce []byte) []byte   // what is signed
		second  func(message bson.D) bson.D // nil: as it is signed
		code    int64
	}{
		{name: "as they should be"},
		{name: "the oldest signature", signed: 15 * time.Minute},
		{name: "a signature that is too old", signed: 15*time.Minute + time.Second, code: 18},
		{name: "the signature of a clock that is fast", signed: -15 * time.Minute},
		{name: "the signature of a clock that is too fast", signed: -15*time.Minute - time.Second, code: 18},
		{name: "another nonce is signed", changed: func(n []byte) []byte { return append(n[:63:63], n[63]+1) }, code: 18},
		{name: "the client's nonce is signed", changed: func(n []byte) []byte { return n[:32] }, code: 18},
		{name: "a date that is none", second: func(m bson.D) bson.D { m[1].Value = "2"; return m }, code: 18},
		{name: "no signature", second: func(m bson.D) bson.D { return m[1:] }, code: 18},
		{name: "a second message of other types", second: func(m bson.D) bson.D { m[0].Value = 1; return m }, code: 18},
		{name: "a short nonce", first: awsFirst(nonce[:31], 'n'), code: 18},
		{name: "a long nonce", first: awsFirst(append(nonce, 7), 'n'), code: 18},
		{name: "a client that binds channels", first: awsFirst(nonce, 'y'), code: 18},
		{name: "a first message of other types", first: bson.D{{Key: "r", Value: "x"}}, code: 18},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rs := mongotest.RunStandaloneT(t, mongotest.InMemory(), mongotest.AWS(mongotest.AWSIdentity{ARN: "arn", AccessKeyID: "id", SecretAccessKey: "secret"}))
				conn := dial(t, rs, 0)
				first := c.first
				if first == nil {
					first = awsFirst(nonce, 'n')
				}
				answer, code := conn.saslStart("MONGODB-AWS", first)
				if c.first == nil {
					var server struct {
						Nonce bson.Binary `bson:"s"`
						Host  string      `bson:"h"`
					}
					if err := bson.Unmarshal(answer, &server); err != nil || len(server.Nonce.Data) != 64 || !bytes.HasPrefix(server.Nonce.Data, nonce) ||
						bytes.Equal(server.Nonce.Data[32:], make([]byte, 32)) || server.Host != "sts.amazonaws.com" {
						t.Fatalf("the server answers %v, %d, %v", bson.Raw(answer), code, err)
					}
					sign := server.Nonce.Data
					if c.changed != nil {
						sign = c.changed(sign)
					}
					second := awsSecond(t, sign, time.Now().Add(-c.signed))
					if c.second != nil {
						second = c.second(second)
					}
					_, code = conn.saslContinue(second)
				}
				if code != c.code {
					t.Errorf("code %d, want %d", code, c.code)
				}
				if _, code := conn.saslContinue(bson.D{}); code != 17 {
					t.Errorf("the login goes on: code %d", code)
				}
			})
		})
	}
}

// Source: Driver Authentication, "MONGODB-OIDC".
func TestTheMessagesOfMONGODBOIDC(t *testing.T) {
	name, token := bson.D{{Key: "n", Value: "ada"}}, bson.D{{Key: "jwt", Value: "ada's token"}}
	one := mongotest.IdentityProvider{Issuer: "https://one", RequestScopes: []string{"a"}}
	none := mongotest.IdentityProvider{Issuer: "https://one"}
	for _, c := range []struct {
		name     string
		messages []bson.D
		provider mongotest.IdentityProvider
		answer   bson.D // to the first message
		codes    []int64
	}{
		{"a token", []bson.D{token}, one, nil, []int64{0}},
		{"a name, then a token", []bson.D{name, token}, one, bson.D{{Key: "issuer", Value: "https://one"}, {Key: "requestScopes", Value: bson.A{"a"}}}, []int64{0, 0}},
		{"a provider without scopes", []bson.D{name, token}, none, bson.D{{Key: "issuer", Value: "https://one"}}, []int64{0, 0}},
		{"no name, then a token", []bson.D{{}, token}, none, bson.D{{Key: "issuer", Value: "https://one"}}, []int64{0, 0}},
		{"a name twice", []bson.D{name, name}, none, bson.D{{Key: "issuer", Value: "https://one"}}, []int64{0, 18}},
		{"a token of nobody", []bson.D{{{Key: "jwt", Value: "nobody's"}}}, one, nil, []int64{18}},
		{"a token that is empty", []bson.D{{{Key: "jwt", Value: ""}}}, one, nil, []int64{18}},
		{"a token of another type", []bson.D{{{Key: "jwt", Value: 1}}}, one, nil, []int64{18}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.provider.Accept = func(token string) (mongotest.TokenOwner, error) {
				switch token {
				case "ada's token":
					return mongotest.TokenOwner{Name: "ada"}, nil
				case "nobody's":
					return mongotest.TokenOwner{}, nil
				}
				return mongotest.TokenOwner{}, errors.New("unknown")
			}
			conn := dial(t, mongotest.RunStandaloneT(t, mongotest.InMemory(), mongotest.OIDC(c.provider)), 0)
			var codes []int64
			for i, message := range c.messages {
				send := conn.saslContinue
				if i == 0 {
					send = func(m any) ([]byte, int64) { return conn.saslStart("MONGODB-OIDC", m) }
				}
				answer, code := send(message)
				codes = append(codes, code)
				if i == 0 && c.answer != nil && !bytes.Equal(answer, must[[]byte](t)(bson.Marshal(c.answer))) {
					t.Errorf("the answer is %v, want %v", bson.Raw(answer), c.answer)
				}
			}
			if !slices.Equal(codes, c.codes) {
				t.Errorf("the codes are %d, want %d", codes, c.codes)
			}
			user := conn.ok(`{"connectionStatus": 1, "$db": "admin"}`).Lookup("authInfo", "authenticatedUsers", "0", "user")
			if got, _ := user.StringValueOK(); (got == "ada") != (c.codes[len(c.codes)-1] == 0) {
				t.Errorf("the connection is that of %q", got)
			}
		})
	}
}

// Source: Driver Authentication, "SCRAM-SHA-1": the server wants an empty exchange at the end, unless the client has skipEmptyExchange.
func TestTheEndOfAScramLogin(t *testing.T) {
	rs := mongotest.RunStandaloneT(t, mongotest.InMemory(), mongotest.Users(mongotest.User{Name: "alice", Password: "s3cret"}))
	for _, c := range []struct {
		options, password string
		ends              []string // of each exchange: whether it is the last one, or the code of its error
	}{
		{`{}`, "s3cret", []string{"false", "false", "true", "17"}},
		{`{"skipEmptyExchange": false}`, "s3cret", []string{"false", "false", "true", "17"}},
		{`{"skipEmptyExchange": true}`, "s3cret", []string{"false", "true", "17"}},
		{`{}`, "wrong", []string{"false", "18", "17"}},
	} {
		t.Run(c.options+" "+c.password, func(t *testing.T) {
			conn := dial(t, rs, 0)
			conversation := must[*scram.Client](t)(scram.SHA256.NewClient("alice", c.password, "")).NewConversation()
			command, answer := `{"saslStart": 1, "mechanism": "SCRAM-SHA-256", "options": `+c.options, ""
			for i, want := range c.ends {
				payload := "" // of the empty exchange
				if i < 2 {
					payload = must[string](t)(conversation.Step(answer))
				}
				reply := conn.run(command+`, "payload": {"$binary": {"base64": "%s", "subType": "00"}}, "$db": "admin"}`, base64.StdEncoding.EncodeToString([]byte(payload)))
				command = `{"saslContinue": 1, "conversationId": 1`
				got := fmt.Sprint(number(reply, "code"))
				if done, ok := reply.Lookup("done").BooleanOK(); ok {
					got = fmt.Sprint(done)
				}
				if got != want {
					t.Errorf("exchange %d: %s, want %s: %v", i, got, want, reply)
				}
				_, data, _ := reply.Lookup("payload").BinaryOK()
				answer = string(data)
			}
		})
	}
}
