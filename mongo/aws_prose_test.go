package mongo_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// The prose tests of MONGODB-AWS: https://github.com/mongodb/specifications/blob/master/source/auth/tests/mongodb-aws.md

var (
	permanent = mongotest.AWSIdentity{ARN: "arn:aws:iam::1:user/ada", AccessKeyID: "AKIAADA", SecretAccessKey: "secret/+="}
	temporary = mongotest.AWSIdentity{ARN: "arn:aws:sts::1:assumed-role/r/ada", AccessKeyID: "ASIAADA", SecretAccessKey: "secret/+=", SessionToken: "token/+="}
)

// amazon plays the services that give keys to machines, containers and roles.
type amazon struct {
	mu      sync.Mutex
	asked   []string  // the requests for keys
	key     string    // the access key ID of its keys, instead of that of temporary
	expires time.Time // of its keys
}

// RoundTrip implements http.RoundTripper.
func (a *amazon) RoundTrip(r *http.Request) (*http.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	where := r.Method + " " + r.URL.Host + r.URL.Path
	session := r.Header.Get("X-aws-ec2-metadata-token")
	switch {
	case where == "PUT 169.254.169.254/latest/api/token" && r.Header.Get("X-aws-ec2-metadata-token-ttl-seconds") != "":
		return answer("session")
	case where == "GET 169.254.169.254/latest/meta-data/iam/security-credentials/" && session == "session":
		return answer("role")
	case where == "GET 169.254.169.254/latest/meta-data/iam/security-credentials/role" && session == "session":
		a.asked = append(a.asked, "machine")
		return answer(a.keys("Token", `"`+a.expires.UTC().Format(time.RFC3339)+`"`))
	case where == "GET 169.254.170.2/v2/credentials":
		a.asked = append(a.asked, "container")
		return answer(a.keys("Token", `"`+a.expires.UTC().Format(time.RFC3339)+`"`))
	case where == "POST sts.amazonaws.com/" && r.Header.Get("Accept") == "application/json":
		body, _ := io.ReadAll(r.Body)
		values, err := url.ParseQuery(string(body))
		if err != nil || values.Get("Action") != "AssumeRoleWithWebIdentity" || values.Get("WebIdentityToken") != "jwt" || values.Get("RoleArn") != "role" {
			return nil, fmt.Errorf("the body is %q", body)
		}
		a.asked = append(a.asked, "session "+values.Get("RoleSessionName"))
		return answer(`{"AssumeRoleWithWebIdentityResponse": {"AssumeRoleWithWebIdentityResult": {"Credentials": ` +
			a.keys("SessionToken", fmt.Sprintf("%d.0", a.expires.Unix())) + `}}}`)
	}
	return nil, fmt.Errorf("no route to %s", where)
}

func (a *amazon) keys(token, expires string) string {
	id := temporary.AccessKeyID
	if a.key != "" {
		id = a.key
	}
	return fmt.Sprintf(`{"AccessKeyId": %q, "SecretAccessKey": %q, %q: %q, "Expiration": %s}`,
		id, temporary.SecretAccessKey, token, temporary.SessionToken, expires)
}

func answer(body string) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// wantAsked checks the requests for keys.
func (a *amazon) wantAsked(t testing.TB, want ...string) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Equal(a.asked, want) {
		t.Errorf("asked %q, want %q", a.asked, want)
	}
}

// setAWS sets the variables of AWS; those that are not given are empty.
func setAWS(t testing.TB, variables map[string]string) {
	t.Helper()
	for _, name := range []string{
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN",
		"AWS_ROLE_SESSION_NAME", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
	} {
		t.Setenv(name, variables[name])
	}
}

// variablesOf are the variables with the key of an identity.
func variablesOf(i mongotest.AWSIdentity) map[string]string {
	return map[string]string{"AWS_ACCESS_KEY_ID": i.AccessKeyID, "AWS_SECRET_ACCESS_KEY": i.SecretAccessKey, "AWS_SESSION_TOKEN": i.SessionToken}
}

func webIdentity(t *testing.T) map[string]string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("jwt"), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": file, "AWS_ROLE_ARN": "role"}
}

// uriOf is a connection string with the key of an identity.
func uriOf(i mongotest.AWSIdentity) string {
	uri := "mongodb://" + url.UserPassword(i.AccessKeyID, i.SecretAccessKey).String() + "@localhost/?authMechanism=MONGODB-AWS"
	if i.SessionToken != "" {
		uri += "&authMechanismProperties=AWS_SESSION_TOKEN:" + url.QueryEscape(i.SessionToken)
	}
	return uri
}

const bareAWS = "mongodb://localhost/?authMechanism=MONGODB-AWS"

// withAWS runs f with a client of the credential in the connection string.
func withAWS(t *testing.T, uri string, provider options.AWSCredentialsProvider, f func(w *world, a *amazon)) {
	t.Helper()
	a := &amazon{}
	in(t, func(o *options.ClientOptions) {
		a.expires = time.Now().Add(time.Hour)
		credential := *options.Client().ApplyURI(uri).Auth
		credential.AWSCredentialsProvider = provider
		o.SetAuth(credential).SetHTTPClient(&http.Client{Transport: a}).SetRetryReads(false)
	}, func(w *world) { f(w, a) }, mongotest.AWS(permanent, temporary))
}

// wantUser checks who the client is.
func (w *world) wantUser(i mongotest.AWSIdentity) {
	w.Helper()
	var status struct {
		AuthInfo struct {
			AuthenticatedUsers []struct{ User, DB string }
		}
	}
	w.must(w.client.Database("admin").RunCommand(w.ctx, doc("connectionStatus", 1)).Decode(&status))
	users := status.AuthInfo.AuthenticatedUsers
	if len(users) != 1 || users[0].User != i.ARN || users[0].DB != "$external" {
		w.Errorf("the users are %+v, want %s", users, i.ARN)
	}
}

// awsScenario is one of the scenarios 1 to 6.
type awsScenario struct {
	name      string
	uri       string
	variables map[string]string
	who       mongotest.AWSIdentity
	asked     []string
}

func awsScenarios(t *testing.T) []awsScenario {
	t.Helper()
	named := webIdentity(t)
	named["AWS_ROLE_SESSION_NAME"] = "mine"
	return []awsScenario{
		{name: "Regular Credentials", uri: uriOf(permanent), who: permanent},
		{name: "EC2 Credentials", uri: bareAWS, who: temporary, asked: []string{"machine"}},
		{
			name: "ECS Credentials", uri: bareAWS, who: temporary, asked: []string{"container"},
			variables: map[string]string{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/credentials"},
		},
		{name: "Assume Role", uri: uriOf(temporary), who: temporary},
		{name: "Assume Role with Web Identity", uri: bareAWS, who: temporary, variables: named, asked: []string{"session mine"}},
		{name: "AWS Lambda without a session token", uri: bareAWS, who: permanent, variables: variablesOf(permanent)},
		{name: "AWS Lambda with a session token", uri: bareAWS, who: temporary, variables: variablesOf(temporary)},
	}
}

func TestAWSProse1To6WhereCredentialsComeFrom(t *testing.T) {
	for _, c := range awsScenarios(t) {
		t.Run(c.name, func(t *testing.T) {
			setAWS(t, c.variables)
			withAWS(t, c.uri, nil, func(w *world, a *amazon) {
				w.must(w.find())
				w.wantUser(c.who)
				a.wantAsked(t, c.asked...)
			})
		})
	}
}

func TestAWSProse5AssumeRoleWithWebIdentityWithoutASessionName(t *testing.T) {
	setAWS(t, webIdentity(t))
	withAWS(t, bareAWS, nil, func(w *world, a *amazon) {
		w.must(w.find())
		w.wantUser(temporary)
		if len(a.asked) != 1 || len(a.asked[0]) < len("session ")+2 { // the Security Token Service wants two characters at least
			t.Errorf("asked %q", a.asked)
		}
	})
}

// custom is an application's provider.
type custom struct {
	who    mongotest.AWSIdentity
	calls  atomic.Int64
	answer func() error // nil, or without an error: the key
}

func (c *custom) Retrieve(context.Context) (options.AWSCredentials, error) {
	c.calls.Add(1)
	if c.answer != nil {
		if err := c.answer(); err != nil {
			return options.AWSCredentials{}, err
		}
	}
	return options.AWSCredentials{
		AccessKeyID: c.who.AccessKeyID, SecretAccessKey: c.who.SecretAccessKey, SessionToken: c.who.SessionToken, Source: "custom",
	}, nil
}

func TestAWSProseCustomCredentialProvider1Authenticates(t *testing.T) {
	for _, c := range awsScenarios(t) {
		t.Run(c.name, func(t *testing.T) {
			setAWS(t, c.variables)
			provider := &custom{who: c.who}
			withAWS(t, bareAWS, provider, func(w *world, a *amazon) {
				w.must(w.find())
				w.wantUser(c.who)
				a.wantAsked(t)
				if provider.calls.Load() != 1 {
					t.Errorf("%d calls of the provider", provider.calls.Load())
				}
			})
		})
	}
}

func TestAWSProseCustomCredentialProvider2Precedence(t *testing.T) {
	for _, c := range []struct {
		name, uri string
		who       mongotest.AWSIdentity
		calls     int64
	}{
		{"Case 1: Credentials in URI Take Precedence", uriOf(permanent), permanent, 0},
		{"Case 2: Custom Provider Takes Precedence Over Environment Variables", bareAWS, temporary, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			setAWS(t, variablesOf(permanent))
			provider := &custom{who: temporary}
			withAWS(t, c.uri, provider, func(w *world, _ *amazon) {
				w.must(w.find())
				w.wantUser(c.who)
				if provider.calls.Load() != c.calls {
					t.Errorf("%d calls of the provider", provider.calls.Load())
				}
			})
		})
	}
}

// The cache is one of each client: where the prose test creates a client, this one opens another connection.
func TestAWSProse7CachedCredentials(t *testing.T) {
	setAWS(t, nil)
	withAWS(t, bareAWS, nil, func(w *world, a *amazon) {
		w.must(w.find())
		a.wantAsked(t, "machine")
		w.drop()
		w.must(w.find()) // with the credentials of the cache
		a.wantAsked(t, "machine")
		w.pass(time.Hour - time.Minute) // they expire within one minute
		a.expires = time.Now().Add(time.Hour)
		w.drop()
		a.key = "ASIAPOISON"
		if err := w.find(); !refusedWith(err, 18) {
			t.Errorf("error %v", err)
		}
		a.wantAsked(t, "machine", "machine")
		a.key = ""
		w.must(w.find()) // the cache has been cleared
		a.wantAsked(t, "machine", "machine", "machine")
		w.drop()
		w.must(w.find()) // and set
		a.wantAsked(t, "machine", "machine", "machine")
	})
}

func refusedWith(err error, code int32) bool {
	var refused mongo.CommandError
	return errors.As(err, &refused) && refused.Code == code
}

func TestAWSProse7CachedCredentialsAndTheEnvironment(t *testing.T) {
	setAWS(t, nil)
	withAWS(t, bareAWS, nil, func(w *world, a *amazon) {
		setAWS(w, variablesOf(temporary))
		w.must(w.find()) // does not add credentials to the cache
		setAWS(w, variablesOf(mongotest.AWSIdentity{AccessKeyID: "x", SecretAccessKey: "y"}))
		w.drop()
		if err := w.find(); !refusedWith(err, 18) {
			t.Errorf("error %v", err)
		}
		setAWS(w, nil)
		w.must(w.find()) // adds credentials to the cache
		a.wantAsked(t, "machine")
		setAWS(w, variablesOf(mongotest.AWSIdentity{AccessKeyID: "x", SecretAccessKey: "y"}))
		w.drop()
		w.must(w.find())
		w.wantUser(temporary)
		a.wantAsked(t, "machine")
	})
}

// No lock is placed on making a request (Driver Authentication, "Caching Credentials"): a slow one does not delay another connection.
func TestASlowProviderDelaysItsOwnConnectionOnly(t *testing.T) {
	setAWS(t, nil)
	provider := &custom{who: permanent}
	provider.answer = func() error {
		if provider.calls.Load() == 1 {
			<-time.After(20 * time.Second)
		}
		return nil
	}
	withAWS(t, bareAWS, provider, func(w *world, _ *amazon) {
		first := make(chan error, 1)
		go func() { first <- w.find() }()
		w.pass(time.Second)
		began := time.Now()
		w.must(w.find())
		if took := time.Since(began); took != 0 {
			t.Errorf("another login took %v", took)
		}
		w.must(<-first)
		w.pass(20 * time.Second) // the call ends
	})
}

// A provider that does not come back as a function does is an error of its login, and holds nobody up.
func TestAProviderThatNeverReturnsProperly(t *testing.T) {
	setAWS(t, nil)
	for name, end := range map[string]func() error{
		"a panic":  func() error { panic("mine") },
		"Goexit":   func() error { runtime.Goexit(); return nil },
		"an error": func() error { return errors.New("mine") },
	} {
		t.Run(name, func(t *testing.T) {
			provider := &custom{who: permanent, answer: end}
			withAWS(t, bareAWS, provider, func(w *world, _ *amazon) {
				for range 3 {
					if err := w.find(); err == nil || !strings.Contains(err.Error(), "AWSCredentialsProvider") {
						t.Errorf("error %v", err)
					}
				}
				provider.answer = nil
				w.must(w.find())
			})
		})
	}
}
