package compare

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// tokens is the callback of one play of a row, which counts its calls. A token that begins with "ada" is accepted.
type tokens struct {
	calls  atomic.Int64
	answer func(ctx context.Context, n int64, args *options.OIDCArgs) (*options.OIDCCredential, error)
}

func (k *tokens) call(ctx context.Context, args *options.OIDCArgs) (*options.OIDCCredential, error) {
	return k.answer(ctx, k.calls.Add(1), args)
}

func token(text string) (*options.OIDCCredential, error) {
	return &options.OIDCCredential{AccessToken: text}, nil
}

var cloud = []mongotest.Option{
	mongotest.OIDC(mongotest.IdentityProvider{Issuer: "https://issuer", ClientID: "client", Accept: func(token string) (mongotest.TokenOwner, error) {
		if !strings.HasPrefix(token, "ada") {
			return mongotest.TokenOwner{}, errors.New("not mine")
		}
		return mongotest.TokenOwner{Name: "ada"}, nil
	}}),
	mongotest.AWS(mongotest.AWSIdentity{ARN: "arn:aws:iam::1:user/ada", AccessKeyID: "AKIAADA", SecretAccessKey: "s3cret"}),
}

type tokenAnswer = func(ctx context.Context, n int64, args *options.OIDCArgs) (*options.OIDCCredential, error)

// findThrice finds a document three times, with a second between, and returns the first error. The result has the calls of the callback
// and the outcome of each find.
func findThrice(k *tokens) func(context.Context, *stage) (any, error) {
	return func(ctx context.Context, s *stage) (any, error) {
		result := []string{}
		var first error
		for range 3 {
			began := time.Now()
			err := s.coll.FindOne(ctx, bson.D{}).Err()
			result = append(result, fmt.Sprintf("%s after %v, %d calls", describe(err), time.Since(began).Round(10*time.Millisecond), k.calls.Load()))
			if first == nil {
				first = err
			}
			<-time.After(time.Second)
		}
		return strings.Join(result, "; "), first
	}
}

// refuseTimes makes the server refuse the first commands of a name.
func refuseTimes(command string, times int, code int32) func(*stage) {
	return func(s *stage) {
		s.set.Use(command, mongotest.Times(times, mongotest.Fault{Error: &mongotest.CommandError{Code: code, Message: "refused"}}))
	}
}

var cloudRows = func() []row {
	var rows []row
	oidc := func(name string, human bool, answer tokenAnswer, faults func(*stage), text string) *row {
		k := &tokens{}
		rows = append(rows, row{
			name: "login with MONGODB-OIDC: " + name, server: cloud, cold: true, faults: faults, text: text, do: findThrice(k),
			configure: func(_ *stage, o *options.ClientOptions) {
				k.calls.Store(0)
				k.answer = answer
				c := options.Credential{AuthMechanism: "MONGODB-OIDC", OIDCMachineCallback: k.call}
				if human {
					c.OIDCMachineCallback, c.OIDCHumanCallback = nil, k.call
					c.AuthMechanismProperties = map[string]string{"ALLOWED_HOSTS": "*"}
				}
				o.SetAuth(c).SetRetryReads(false)
			},
		})
		return &rows[len(rows)-1]
	}
	fine := func(_ context.Context, n int64, _ *options.OIDCArgs) (*options.OIDCCredential, error) {
		return token(fmt.Sprint("ada", n))
	}
	firstOf := func(first tokenAnswer) tokenAnswer {
		return func(ctx context.Context, n int64, args *options.OIDCArgs) (*options.OIDCCredential, error) {
			if n == 1 {
				return first(ctx, n, args)
			}
			return token("ada")
		}
	}
	mine := errors.New("mine")
	oidc("a token", false, fine, unguarded, "")
	oidc("a token of nobody", false, firstOf(func(context.Context, int64, *options.OIDCArgs) (*options.OIDCCredential, error) { return token("eve") }), unguarded, "AuthenticationFailed").differs("a token that the server has refused is not sent again", "result", "took")
	oidc("an error", false, firstOf(func(context.Context, int64, *options.OIDCArgs) (*options.OIDCCredential, error) { return nil, mine }), unguarded, "mine").waits()
	oidc("nothing", false, firstOf(func(context.Context, int64, *options.OIDCArgs) (*options.OIDCCredential, error) { return nil, nil }), unguarded, "").waits()
	oidc("an empty token", false, firstOf(func(context.Context, int64, *options.OIDCArgs) (*options.OIDCCredential, error) { return token("") }), unguarded, "").waits().differs("an empty token is not sent", "error")
	oidc("391", false, fine, refuseTimes("find", 1, 391), "").differs("calls of a callback are at least 100 ms apart", "result", "took")
	oidc("391 twice", false, fine, refuseTimes("find", 2, 391), "").differs("a login is renewed once for each time that a command is sent", "result", "error", "took", "sent")
	oidc("391 and a token of nobody", false, func(_ context.Context, n int64, _ *options.OIDCArgs) (*options.OIDCCredential, error) {
		if n == 2 {
			return token("eve")
		}
		return token("ada")
	}, refuseTimes("find", 1, 391), "").differs("a connection whose login cannot be renewed is closed", "result", "took")
	oidc("391 and an error", false, func(_ context.Context, n int64, _ *options.OIDCArgs) (*options.OIDCCredential, error) {
		if n == 2 {
			return nil, mine
		}
		return token("ada")
	}, refuseTimes("find", 1, 391), "mine").differs("a connection whose login cannot be renewed is closed", "result", "took")
	oidc("saslStart refused with 20", false, fine, refuseTimes("saslStart", 1, 20), "").waits()
	// A slow callback has no row: the official driver holds a lock meanwhile, and the fake clock would stand still.
	oidc("a person", true, fine, unguarded, "")
	oidc("a person, 391", true, fine, refuseTimes("find", 1, 391), "").differs("calls of a callback are at least 100 ms apart", "result", "took")
	oidc("a person, and a refresh that fails", true, func(_ context.Context, n int64, args *options.OIDCArgs) (*options.OIDCCredential, error) {
		if args.RefreshToken != nil {
			return nil, mine
		}
		refresh := "refresh"
		return &options.OIDCCredential{AccessToken: fmt.Sprint("ada", n), RefreshToken: &refresh}, nil
	}, refuseTimes("find", 1, 391), "").differs("calls of a callback are at least 100 ms apart", "result", "took")
	oidc("a person, and a refresh that the server refuses", true, func(_ context.Context, n int64, args *options.OIDCArgs) (*options.OIDCCredential, error) {
		refresh := "refresh"
		if args.RefreshToken != nil {
			return &options.OIDCCredential{AccessToken: "eve", RefreshToken: &refresh}, nil
		}
		return &options.OIDCCredential{AccessToken: fmt.Sprint("ada", n), RefreshToken: &refresh}, nil
	}, refuseTimes("find", 1, 391), "").differs("after a refresh token of no use the person is asked again", "result", "error", "took", "sent")

	bad := func(name string, c options.Credential, text string) *row {
		rows = append(rows, row{
			name: "bad options: " + name, server: cloud, cold: true, faults: unguarded, text: text, do: findThrice(&tokens{}),
			configure: func(_ *stage, o *options.ClientOptions) {
				o.SetAuth(c).SetHTTPClient(&http.Client{Transport: nowhere{}})
			},
		})
		return &rows[len(rows)-1]
	}
	callback := func(context.Context, *options.OIDCArgs) (*options.OIDCCredential, error) { return token("ada") }
	bad("no callback", options.Credential{AuthMechanism: "MONGODB-OIDC"}, "")
	bad("two callbacks", options.Credential{AuthMechanism: "MONGODB-OIDC", OIDCMachineCallback: callback, OIDCHumanCallback: callback}, "")
	bad("a callback and an environment", options.Credential{
		AuthMechanism: "MONGODB-OIDC", OIDCMachineCallback: callback, AuthMechanismProperties: map[string]string{"ENVIRONMENT": "k8s"},
	}, "")
	bad("a password", options.Credential{AuthMechanism: "MONGODB-OIDC", OIDCMachineCallback: callback, Password: "s3cret", PasswordSet: true}, "")
	bad("another source", options.Credential{AuthMechanism: "MONGODB-OIDC", OIDCMachineCallback: callback, AuthSource: "admin"}, "")
	bad("an unknown environment", options.Credential{AuthMechanism: "MONGODB-OIDC", AuthMechanismProperties: map[string]string{"ENVIRONMENT": "moon"}}, "")
	bad("azure without a resource", options.Credential{AuthMechanism: "MONGODB-OIDC", AuthMechanismProperties: map[string]string{"ENVIRONMENT": "azure"}}, "")
	bad("a resource for k8s", options.Credential{
		AuthMechanism: "MONGODB-OIDC", AuthMechanismProperties: map[string]string{"ENVIRONMENT": "k8s", "TOKEN_RESOURCE": "r"},
	}, "").differs("`TOKEN_RESOURCE` without azure or gcp is an error", "Connect", "result", "error", "took")
	bad("ALLOWED_HOSTS with a machine", options.Credential{
		AuthMechanism: "MONGODB-OIDC", OIDCMachineCallback: callback, AuthMechanismProperties: map[string]string{"ALLOWED_HOSTS": "x"},
	}, "")
	bad("an unknown property", options.Credential{
		AuthMechanism: "MONGODB-OIDC", OIDCMachineCallback: callback, AuthMechanismProperties: map[string]string{"XYZ": "x"},
	}, "")
	bad("MONGODB-AWS, half a key", options.Credential{AuthMechanism: "MONGODB-AWS", Username: "AKIAADA"}, "").differs("bad input is an error before any network use", "Connect", "result", "error", "took")
	bad("MONGODB-AWS, another source", options.Credential{AuthMechanism: "MONGODB-AWS", Username: "AKIAADA", Password: "s3cret", AuthSource: "admin"}, "")
	bad("MONGODB-AWS, a session token alone", options.Credential{AuthMechanism: "MONGODB-AWS", AuthMechanismProperties: map[string]string{"AWS_SESSION_TOKEN": "x"}}, "").differs("bad input is an error before any network use", "Connect", "result", "error", "took")
	bad("MONGODB-AWS, an unknown property", options.Credential{
		AuthMechanism: "MONGODB-AWS", Username: "AKIAADA", Password: "s3cret", AuthMechanismProperties: map[string]string{"XYZ": "x"},
	}, "").differs("bad input is an error before any network use", "Connect", "result", "error", "took", "sent")
	bad("MONGODB-AWS, a key", options.Credential{AuthMechanism: "MONGODB-AWS", Username: "AKIAADA", Password: "s3cret"}, "")
	bad("MONGODB-AWS, a wrong key", options.Credential{AuthMechanism: "MONGODB-AWS", Username: "AKIAADA", Password: "wrong"}, "AuthenticationFailed").waits()
	bad("MONGODB-AWS, a provider's error", options.Credential{AuthMechanism: "MONGODB-AWS", AWSCredentialsProvider: failingProvider{mine}}, "mine").waits()
	return rows
}()

// waits says that the official driver may wait for a heartbeat after the failed login, as its goroutines happen to run; ours does not.
func (r *row) waits() *row {
	r.mayDiffer, r.took = []string{"result", "took"}, "3s"
	return r
}

// differs says in which parts of the outcome our client differs, and why.
func (r *row) differs(why string, parts ...string) { r.why, r.differ = why, parts }

// nowhere is a network without metadata services.
type nowhere struct{}

func (nowhere) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("no route") }

type failingProvider struct{ err error }

func (p failingProvider) Retrieve(context.Context) (options.AWSCredentials, error) {
	return options.AWSCredentials{}, p.err
}
