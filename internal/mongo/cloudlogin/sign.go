package cloudlogin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
)

// identityBody is the request that tells the server who has signed it. Source: Driver Authentication, "MONGODB-AWS".
const identityBody = "Action=GetCallerIdentity&Version=2011-06-15"

// Sign signs the request with the keys, by the Signature Version 4 Signing Process.
func (k *Keys) Sign(ctx context.Context, r auth.IdentityRequest) (auth.SignedRequest, error) {
	key, err := k.get(ctx)
	if err != nil {
		return auth.SignedRequest{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+r.Host+"/", strings.NewReader(identityBody))
	if err != nil || request.URL.Host != r.Host {
		return auth.SignedRequest{}, fmt.Errorf("the server's host of the Security Token Service is %q, which is not the name of a host", r.Host)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("X-MongoDB-Server-Nonce", r.ServerNonce)
	request.Header.Set("X-MongoDB-GS2-CB-Flag", "n")
	credentials := aws.Credentials{AccessKeyID: key.ID, SecretAccessKey: key.Secret, SessionToken: key.SessionToken}
	hash := sha256.Sum256([]byte(identityBody))
	err = signer.NewSigner().SignHTTP(ctx, credentials, request, hex.EncodeToString(hash[:]), "sts", r.Region, time.Now().UTC())
	return auth.SignedRequest{
		Authorization: request.Header.Get("Authorization"), Date: request.Header.Get("X-Amz-Date"), SessionToken: key.SessionToken,
	}, err
}
