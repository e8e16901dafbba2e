package cloudlogin

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

const tokenService = "https://sts.amazonaws.com/"

// webIdentity exchanges a token of an identity provider for keys. Source: Driver Authentication, "AssumeRoleWithWebIdentity".
type webIdentity struct{ client *http.Client }

func (w webIdentity) get(ctx context.Context) (Key, error) {
	file, role := os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE"), os.Getenv("AWS_ROLE_ARN")
	if file == "" || role == "" {
		return Key{}, errAbsent
	}
	token, err := os.ReadFile(file)
	if err != nil {
		return Key{}, fmt.Errorf("AWS_WEB_IDENTITY_TOKEN_FILE: %w", err)
	}
	session := os.Getenv("AWS_ROLE_SESSION_NAME")
	if session == "" {
		session = "holdfast-" + rand.Text()
	}
	// The parameters are in the body, because errors of HTTP clients show addresses, and the token is a secret.
	parameters := url.Values{
		"Action": {"AssumeRoleWithWebIdentity"}, "Version": {"2011-06-15"},
		"RoleSessionName": {session}, "RoleArn": {role}, "WebIdentityToken": {strings.TrimSpace(string(token))},
	}
	answer, err := fetchShortly(ctx, w.client, http.MethodPost, tokenService, parameters.Encode(),
		"Accept", "application/json", "Content-Type", "application/x-www-form-urlencoded")
	if err != nil {
		return Key{}, err
	}
	return parseAssumedRole(answer)
}

// parseAssumedRole reads the answer of the Security Token Service. Its time is in seconds since 1970.
func parseAssumedRole(answer []byte) (Key, error) {
	var parsed struct {
		Response struct {
			Result struct {
				Credentials struct {
					AccessKeyID     string `json:"AccessKeyId"`
					SecretAccessKey string
					SessionToken    string
					Expiration      float64
				}
			} `json:"AssumeRoleWithWebIdentityResult"`
		} `json:"AssumeRoleWithWebIdentityResponse"`
	}
	if err := json.Unmarshal(answer, &parsed); err != nil {
		return Key{}, fmt.Errorf("the answer of %s: %w", tokenService, err)
	}
	c := parsed.Response.Result.Credentials
	key := Key{ID: c.AccessKeyID, Secret: c.SecretAccessKey, SessionToken: c.SessionToken}
	if c.Expiration > 0 {
		key.Expires = time.Unix(int64(c.Expiration), 0)
	}
	return key, nil
}
