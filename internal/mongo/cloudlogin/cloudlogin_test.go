package cloudlogin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
)

// clouds answers requests as the services of clouds do, and keeps what it was asked.
type clouds struct {
	answers map[string]string // by method and address without the query
	status  int
	silent  bool

	mu    sync.Mutex
	asked []string // with the query, the body and the headers that matter
}

// RoundTrip implements http.RoundTripper.
func (c *clouds) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	asked := r.Method + " " + r.URL.String()
	if len(body) > 0 {
		asked += " " + string(body)
	}
	for _, name := range []string{"Accept", "Metadata", "Metadata-Flavor", "X-Aws-Ec2-Metadata-Token", "X-Aws-Ec2-Metadata-Token-Ttl-Seconds"} {
		if v := r.Header.Get(name); v != "" {
			asked += " " + name + "=" + v
		}
	}
	c.mu.Lock()
	c.asked = append(c.asked, asked)
	c.mu.Unlock()
	if c.silent {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	where := *r.URL
	where.RawQuery = ""
	answer, known := c.answers[r.Method+" "+where.String()]
	if !known {
		return nil, fmt.Errorf("no route to %s", r.URL.Host)
	}
	status := c.status
	if status == 0 {
		status = http.StatusOK
	}
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Body: io.NopCloser(strings.NewReader(answer))}, nil
}

func (c *clouds) client() *http.Client { return &http.Client{Transport: c} }

const (
	secret  = "s3cr3t"
	later   = `"2001-01-01T00:00:00Z"` // an hour after the beginning of the fake clock
	roleKey = `{"Code": "Success", "AccessKeyId": "id", "SecretAccessKey": "` + secret + `", "Token": "token", "Expiration": %s}`
	ec2     = "http://169.254.169.254/latest/"
	ecs     = "http://169.254.170.2/v2/credentials/uuid"
)

// machineAnswers are those of a machine with one role.
func machineAnswers(expires string) map[string]string {
	return map[string]string{
		"PUT " + ec2 + "api/token":                               "session",
		"GET " + ec2 + "meta-data/iam/security-credentials/":     "role\n",
		"GET " + ec2 + "meta-data/iam/security-credentials/role": fmt.Sprintf(roleKey, expires),
	}
}

func container1(expires string) map[string]string {
	return map[string]string{"GET " + ecs: fmt.Sprintf(roleKey, expires)}
}

func stsAnswers() map[string]string {
	return map[string]string{"POST https://sts.amazonaws.com/": `{"AssumeRoleWithWebIdentityResponse": {"AssumeRoleWithWebIdentityResult": {"Credentials":
		{"AccessKeyId": "id", "SecretAccessKey": "` + secret + `", "SessionToken": "token", "Expiration": 9.783072E8}}}}`}
}

// tokenFile writes a token into a file.
func tokenFile(t *testing.T, token string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// without clears the variables of clouds, and sets some.
func environment(t *testing.T, variables map[string]string) {
	t.Helper()
	for _, name := range []string{
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN",
		"AWS_ROLE_SESSION_NAME", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AZURE_FEDERATED_TOKEN_FILE", "OIDC_TOKEN_FILE",
	} {
		t.Setenv(name, variables[name])
	}
}

// Source: Driver Authentication, "Obtaining Credentials".
func TestWhereAKeyComesFrom(t *testing.T) {
	key := Key{ID: "id", Secret: secret, SessionToken: "token"}
	inEnvironment := map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": secret, "AWS_SESSION_TOKEN": "token"}
	inContainer := map[string]string{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/credentials/uuid"}
	identity := map[string]string{
		"AWS_WEB_IDENTITY_TOKEN_FILE": tokenFile(t, "jwt\n"), "AWS_ROLE_ARN": "arn:aws:iam::1:role/r", "AWS_ROLE_SESSION_NAME": "me",
	}
	for _, c := range []struct {
		name        string
		given       Key
		provider    Provider
		environment map[string]string
		answers     map[string]string
		want        Key
		asked       []string
	}{
		{name: "the credential", given: key, environment: inContainer, want: key},
		{
			name: "the application's provider, before the environment", environment: inEnvironment, want: Key{ID: "p", Secret: "q"},
			provider: func(context.Context) (Key, error) { return Key{ID: "p", Secret: "q"}, nil },
		},
		{name: "the environment", environment: inEnvironment, want: key},
		{
			name: "the environment, without a token", want: Key{ID: "id", Secret: secret},
			environment: map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": secret},
		},
		{
			name: "the web identity", environment: identity, answers: stsAnswers(), want: key,
			asked: []string{"POST https://sts.amazonaws.com/ Action=AssumeRoleWithWebIdentity&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr&" +
				"RoleSessionName=me&Version=2011-06-15&WebIdentityToken=jwt Accept=application/json"},
		},
		{
			name: "the container", environment: inContainer, answers: container1(later), want: key,
			asked: []string{"GET " + ecs + " Accept=application/json"},
		},
		{
			name: "the machine", answers: machineAnswers(later), want: key,
			asked: []string{
				"PUT " + ec2 + "api/token X-Aws-Ec2-Metadata-Token-Ttl-Seconds=30",
				"GET " + ec2 + "meta-data/iam/security-credentials/ X-Aws-Ec2-Metadata-Token=session",
				"GET " + ec2 + "meta-data/iam/security-credentials/role X-Aws-Ec2-Metadata-Token=session",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			environment(t, c.environment)
			cloud := &clouds{answers: c.answers}
			got, err := NewKeys(c.given, c.provider, cloud.client()).get(t.Context())
			got.Expires = time.Time{}
			if err != nil || got.ID != c.want.ID || got.Secret != c.want.Secret || got.SessionToken != c.want.SessionToken {
				t.Errorf("%s %s %s, %v", got.ID, got.Secret, got.SessionToken, err)
			}
			if strings.Join(cloud.asked, "\n") != strings.Join(c.asked, "\n") {
				t.Errorf("asked\n%s\nwant\n%s", strings.Join(cloud.asked, "\n"), strings.Join(c.asked, "\n"))
			}
		})
	}
}

// A name of the session that is not given is another one each time.
func TestTheSessionOfAWebIdentityHasAName(t *testing.T) {
	environment(t, map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": tokenFile(t, "jwt"), "AWS_ROLE_ARN": "role"})
	cloud := &clouds{answers: stsAnswers()}
	for range 2 {
		if _, err := NewKeys(Key{}, nil, cloud.client()).get(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	name := func(asked string) string {
		_, body, _ := strings.Cut(asked, "https://sts.amazonaws.com/ ")
		body, _, _ = strings.Cut(body, " ")
		values, err := url.ParseQuery(body)
		if err != nil {
			t.Fatal(err)
		}
		return values.Get("RoleSessionName")
	}
	if a, b := name(cloud.asked[0]), name(cloud.asked[1]); a == "" || a == b {
		t.Errorf("the names are %q and %q", a, b)
	}
}

// A place that is configured and fails is not passed over: the application would log in as somebody else. No error shows a secret.
func TestAPlaceThatFailsEndsTheSearch(t *testing.T) {
	mine := errors.New("mine")
	for _, c := range []struct {
		name        string
		provider    Provider
		environment map[string]string
		answers     map[string]string
		status      int
		want        string
	}{
		{name: "the provider", provider: func(context.Context) (Key, error) { return Key{}, mine }, want: "AWSCredentialsProvider: mine"},
		{name: "a provider without a key", provider: func(context.Context) (Key, error) { return Key{ID: "id"}, nil }, want: "empty"},
		{name: "half an environment", environment: map[string]string{"AWS_ACCESS_KEY_ID": "id"}, want: "environment"},
		{name: "the other half", environment: map[string]string{"AWS_SECRET_ACCESS_KEY": secret}, want: "environment"},
		{
			name: "no file with a token", want: "AWS_WEB_IDENTITY_TOKEN_FILE",
			environment: map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": "nothing", "AWS_ROLE_ARN": "role"},
		},
		{
			name: "a role that is refused", status: http.StatusForbidden, answers: stsAnswers(), want: "sts.amazonaws.com answers with the status",
			environment: map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": tokenFile(t, secret), "AWS_ROLE_ARN": "role"},
		},
		{
			name: "no way to the token service", want: "no route to sts.amazonaws.com",
			environment: map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": tokenFile(t, secret), "AWS_ROLE_ARN": "role"},
		},
		{
			name: "an answer without a key", answers: map[string]string{"POST https://sts.amazonaws.com/": `{}`}, want: "empty",
			environment: map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": tokenFile(t, secret), "AWS_ROLE_ARN": "role"},
		},
		{
			name: "an answer that is no JSON", answers: map[string]string{"GET " + ecs: `"` + secret}, want: "169.254.170.2",
			environment: map[string]string{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "v2/credentials/uuid"},
		},
		{
			name: "no way to the container's agent", want: "no route to 169.254.170.2",
			environment: map[string]string{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/" + secret},
		},
		{
			name: "an answer without an end", answers: map[string]string{"GET " + ecs: strings.Repeat(secret, maxBody)}, want: "more than 1048576 bytes",
			environment: map[string]string{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/credentials/uuid"},
		},
		{name: "no machine of AWS", want: "the machine: 169.254.169.254: no route"},
	} {
		t.Run(c.name, func(t *testing.T) {
			environment(t, c.environment)
			cloud := &clouds{answers: c.answers, status: c.status}
			_, err := NewKeys(Key{}, c.provider, cloud.client()).get(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if c.provider != nil && len(cloud.asked) > 0 {
				t.Errorf("%q was asked", cloud.asked)
			}
		})
	}
}

func TestAServiceThatDoesNotAnswerIsGivenUp(t *testing.T) {
	environment(t, nil)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := NewKeys(Key{}, nil, (&clouds{silent: true}).client()).get(t.Context())
		if took := time.Since(began); took != fetchTime || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no answer within 10s") {
			t.Errorf("after %v: %v", took, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began = time.Now()
		_, err = NewKeys(Key{}, nil, (&clouds{silent: true}).client()).get(ctx)
		if took := time.Since(began); took != time.Second || !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "10s") {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

// Source: Driver Authentication, "Caching Credentials" and its prose test "Cached Credentials".
func TestKeysThatExpireAreKeptUntilFiveMinutesBefore(t *testing.T) {
	environment(t, nil)
	synctest.Test(t, func(t *testing.T) {
		cloud := &clouds{answers: machineAnswers(`"` + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + `"`)}
		keys := NewKeys(Key{}, nil, cloud.client())
		get := func(requests int) {
			t.Helper()
			if _, err := keys.get(t.Context()); err != nil || len(cloud.asked) != requests {
				t.Errorf("%d requests, want %d; %v", len(cloud.asked), requests, err)
			}
		}
		get(3)
		get(3)
		<-time.After(55*time.Minute - time.Nanosecond)
		get(3)
		<-time.After(time.Nanosecond)
		get(6) // they end within five minutes: they are used, and not kept
		get(9)
		cloud.answers = machineAnswers(`"` + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + `"`)
		get(12)
		get(12)
		keys.Forget() // a login has failed
		get(15)
	})
}

// The environment's keys count as long as no others are kept.
func TestKeysOfTheEnvironmentAreReadEachTime(t *testing.T) {
	keys := NewKeys(Key{}, nil, (&clouds{}).client())
	for _, id := range []string{"one", "two"} {
		environment(t, map[string]string{"AWS_ACCESS_KEY_ID": id, "AWS_SECRET_ACCESS_KEY": secret})
		if got, err := keys.get(t.Context()); err != nil || got.ID != id {
			t.Errorf("%s, %v, want %s", got.ID, err, id)
		}
	}
	environment(t, nil)
	keys.places[3].get = machine{(&clouds{answers: machineAnswers(`"2999-01-01T00:00:00Z"`)}).client()}.get
	if _, err := keys.get(t.Context()); err != nil {
		t.Fatal(err)
	}
	environment(t, map[string]string{"AWS_ACCESS_KEY_ID": "three", "AWS_SECRET_ACCESS_KEY": secret})
	if got, err := keys.get(t.Context()); err != nil || got.ID != "id" {
		t.Errorf("%s, %v, want the key that is kept", got.ID, err)
	}
}

func TestAKeyIsNotPrinted(t *testing.T) {
	key := Key{ID: "id", Secret: secret, SessionToken: secret}
	for _, v := range []any{key, &key, struct{ K Key }{key}, []Key{key}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
			if text := fmt.Sprintf(verb, v); strings.Contains(text, secret) || strings.Contains(text, fmt.Sprintf("%x", secret)) {
				t.Errorf("%s of %T prints %s", verb, v, text)
			}
		}
	}
}

// Source: Driver Authentication, "Built-in OIDC Environment Integrations".
func TestWhereATokenComesFrom(t *testing.T) {
	file := tokenFile(t, "jwt\n")
	const azure = "http://169.254.169.254/metadata/identity/oauth2/token"
	const gcp = "http://metadata/computeMetadata/v1/instance/service-accounts/default/identity"
	cloud := &clouds{answers: map[string]string{"GET " + azure: `{"access_token": "jwt", "expires_in": "3599"}`, "GET " + gcp: "jwt"}}
	for _, c := range []struct {
		name        string
		source      auth.TokenSource
		environment map[string]string
		asked       string
	}{
		{
			name: "azure", source: Azure(cloud.client(), "api://a b", ""),
			asked: "GET " + azure + "?api-version=2018-02-01&resource=api%3A%2F%2Fa+b Accept=application/json Metadata=true",
		},
		{
			name: "azure with a user", source: Azure(cloud.client(), "r", "c&d"),
			asked: "GET " + azure + "?api-version=2018-02-01&client_id=c%26d&resource=r Accept=application/json Metadata=true",
		},
		{name: "gcp", source: GCP(cloud.client(), "a&b"), asked: "GET " + gcp + "?audience=a%26b Metadata-Flavor=Google"},
		{name: "k8s on azure", source: Kubernetes, environment: map[string]string{"AZURE_FEDERATED_TOKEN_FILE": file, "AWS_WEB_IDENTITY_TOKEN_FILE": "x"}},
		{name: "k8s on aws", source: Kubernetes, environment: map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": file}},
		{name: "a file", source: File, environment: map[string]string{"OIDC_TOKEN_FILE": file}},
	} {
		t.Run(c.name, func(t *testing.T) {
			environment(t, c.environment)
			cloud.asked = nil
			got, err := c.source(t.Context(), auth.TokenRequest{})
			if asked := strings.Join(cloud.asked, "\n"); err != nil || got.Access != "jwt" || asked != c.asked {
				t.Errorf("%q, %v; asked %s, want %s", got.Access, err, asked, c.asked)
			}
		})
	}
}

func TestATokenSourceThatFails(t *testing.T) {
	environment(t, nil)
	refusing := &clouds{status: http.StatusBadRequest, answers: map[string]string{
		"GET http://169.254.169.254/metadata/identity/oauth2/token":                         "no such identity",
		"GET http://metadata/computeMetadata/v1/instance/service-accounts/default/identity": "no such audience",
	}}
	for name, c := range map[string]struct {
		source auth.TokenSource
		want   string
	}{
		"azure, with the body of the answer": {Azure(refusing.client(), "r", ""), "no such identity"},
		"gcp, with the body of the answer":   {GCP(refusing.client(), "r"), "no such audience"},
		"no way to azure":                    {Azure((&clouds{}).client(), "r", ""), "no route to 169.254.169.254"},
		"no way to gcp":                      {GCP((&clouds{}).client(), "r"), "no route to metadata"},
		"k8s without a file":                 {Kubernetes, "serviceaccount/token"},
		"no file":                            {File, "open"},
		"azure, no JSON": {
			Azure((&clouds{answers: map[string]string{"GET http://169.254.169.254/metadata/identity/oauth2/token": "<html>"}}).client(), "r", ""), "answer",
		},
	} {
		if _, err := c.source(t.Context(), auth.TokenRequest{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// The example of the AWS documentation ("Create a signed request") has another service; this one is checked by mongotest and by the
// official driver. Here are the parts that a server reads.
func TestTheSignedHeaders(t *testing.T) {
	for token, want := range map[string]string{
		"":      "SignedHeaders=content-length;content-type;host;x-amz-date;x-mongodb-gs2-cb-flag;x-mongodb-server-nonce,",
		"token": "SignedHeaders=content-length;content-type;host;x-amz-date;x-amz-security-token;x-mongodb-gs2-cb-flag;x-mongodb-server-nonce,",
	} {
		keys := NewKeys(Key{ID: "id", Secret: secret, SessionToken: token}, nil, nil)
		got, err := keys.Sign(t.Context(), auth.IdentityRequest{Host: "sts.eu-west-1.amazonaws.com", Region: "eu-west-1", ServerNonce: "bm9uY2U="})
		if err != nil || !strings.Contains(got.Authorization, want) || !strings.Contains(got.Authorization, "/eu-west-1/sts/aws4_request") || got.SessionToken != token {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := time.Parse("20060102T150405Z", got.Date); err != nil || strings.Contains(got.Authorization, secret) {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

func TestAHostThatIsNoneIsNotSigned(t *testing.T) {
	for _, host := range []string{"a/b", "a?b", "u@a", "a b", "a#b"} {
		if _, err := NewKeys(Key{ID: "id", Secret: secret}, nil, nil).Sign(t.Context(), auth.IdentityRequest{Host: host, Region: "r"}); err == nil {
			t.Errorf("%q: no error", host)
		}
	}
}

// FuzzAnswers gives arbitrary answers to the decoders. They accept no key that is not in the answer.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(stsAnswers()["POST https://sts.amazonaws.com/"]))
	f.Add([]byte(fmt.Sprintf(roleKey, later)))
	f.Fuzz(func(t *testing.T, answer []byte) {
		for _, parse := range []func([]byte) (Key, error){
			parseAssumedRole, func(b []byte) (Key, error) { return parseRoleKeys("x", b) },
		} {
			key, err := parse(answer)
			if err == nil && key.ID != "" && !bytes.Contains(answer, []byte{'"'}) {
				t.Errorf("%q has the key %q", answer, key.ID)
			}
		}
	})
}
