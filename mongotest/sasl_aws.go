package mongotest

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/account"
)

// awsHost is the Security Token Service that clients sign a request to.
const awsHost = "sts.amazonaws.com"

// awsDialogue is MONGODB-AWS: the client sends a nonce, the server answers with a longer one and a host, and the client sends the
// signature of a request that has them.
type awsDialogue struct{ nonce []byte }

func (d *awsDialogue) step(x *exec, payload []byte) error {
	if d.nonce == nil {
		return d.greet(x, payload)
	}
	var answer struct {
		Authorization string `bson:"a"`
		Date          string `bson:"d"`
		Token         string `bson:"t"`
	}
	if bson.Unmarshal(payload, &answer) != nil {
		return errAuthentication
	}
	r := awsRequest{nonce: base64.StdEncoding.EncodeToString(d.nonce), date: answer.Date, token: answer.Token}
	if !r.isFresh() {
		return errAuthentication
	}
	for _, i := range x.conn.deployment.config.awsIdentities {
		if i.SessionToken == answer.Token && hmac.Equal([]byte(r.authorization(i)), []byte(answer.Authorization)) {
			x.conn.login(account.External, i.ARN)
			appendSasl(x, true, nil)
			return nil
		}
	}
	return errAuthentication
}

// greet answers the first message.
func (d *awsDialogue) greet(x *exec, payload []byte) error {
	var first struct {
		Nonce bson.Binary `bson:"r"`
		Flag  int32       `bson:"p"`
	}
	if bson.Unmarshal(payload, &first) != nil || len(first.Nonce.Data) != 32 || first.Flag != 'n' {
		return errAuthentication
	}
	own := make([]byte, 32)
	_, _ = rand.Read(own)
	d.nonce = bytes.Join([][]byte{first.Nonce.Data, own}, nil)
	at, doc := wire.BeginDocument(nil)
	doc = wire.AppendBinary(doc, "s", 0, d.nonce)
	doc = wire.EndDocument(wire.AppendString(doc, "h", awsHost), at)
	x.conn.dialogue = d
	appendSasl(x, false, doc)
	return nil
}

// awsRequest is the request that a client signs, written out by the rules of the Signature Version 4 Signing Process:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
type awsRequest struct{ nonce, date, token string }

const (
	awsBody   = "Action=GetCallerIdentity&Version=2011-06-15"
	awsTime   = "20060102T150405Z"
	awsFresh  = 15 * time.Minute
	awsRegion = "us-east-1" // of awsHost
)

func (r awsRequest) isFresh() bool {
	at, err := time.Parse(awsTime, r.date)
	return err == nil && time.Since(at).Abs() <= awsFresh
}

// headers are the lines of the signed headers and the list of their names.
func (r awsRequest) headers() (lines, names string) {
	all := [][2]string{
		{"content-length", fmt.Sprint(len(awsBody))},
		{"content-type", "application/x-www-form-urlencoded"},
		{"host", awsHost},
		{"x-amz-date", r.date},
		{"x-amz-security-token", r.token},
		{"x-mongodb-gs2-cb-flag", "n"},
		{"x-mongodb-server-nonce", r.nonce},
	}
	var list []string
	for _, h := range all {
		if h[1] != "" {
			lines += h[0] + ":" + h[1] + "\n"
			list = append(list, h[0])
		}
	}
	return lines, strings.Join(list, ";")
}

// authorization is the header that the owner of a key would send.
func (r awsRequest) authorization(i AWSIdentity) string {
	lines, names := r.headers()
	day := r.date[:8]
	scope := strings.Join([]string{day, awsRegion, "sts", "aws4_request"}, "/")
	canonical := strings.Join([]string{"POST", "/", "", lines, names, hexOfHash(awsBody)}, "\n")
	key := []byte("AWS4" + i.SecretAccessKey)
	for _, part := range []string{day, awsRegion, "sts", "aws4_request"} {
		key = macOf(key, part)
	}
	signature := macOf(key, strings.Join([]string{"AWS4-HMAC-SHA256", r.date, scope, hexOfHash(canonical)}, "\n"))
	return fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s", i.AccessKeyID, scope, names, hex.EncodeToString(signature))
}

func hexOfHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func macOf(key []byte, s string) []byte {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(s))
	return mac.Sum(nil)
}
