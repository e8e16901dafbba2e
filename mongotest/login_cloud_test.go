package mongotest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// wantCode checks an error of the official driver: its code, or none for 0.
func wantCode(t *testing.T, err error, code int32) {
	t.Helper()
	var refused mongo.CommandError
	if code == 0 && err != nil || code != 0 && (!errors.As(err, &refused) || refused.Code != code) {
		t.Errorf("%v, want code %d", err, code)
	}
}

func TestTheOfficialDriverAuthenticatesByAWS(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.AWS(
		mongotest.AWSIdentity{ARN: "arn:aws:iam::1:user/ada", AccessKeyID: "AKIAADA", SecretAccessKey: "secret"},
		mongotest.AWSIdentity{ARN: "arn:aws:iam::1:user/ada", AccessKeyID: "ASIAADA", SecretAccessKey: "secret", SessionToken: "token/+="},
	))
	for _, c := range []struct {
		name, key, secret, token string
		code                     int32
	}{
		{"a permanent key", "AKIAADA", "secret", "", 0},
		{"a temporary key", "ASIAADA", "secret", "token/+=", 0},
		{"a wrong secret", "AKIAADA", "public", "", 18},
		{"an unknown key", "AKIABOB", "secret", "", 18},
		{"a temporary key without its token", "ASIAADA", "secret", "", 18},
		{"a permanent key with a token", "AKIAADA", "secret", "token/+=", 18},
	} {
		t.Run(c.name, func(t *testing.T) {
			credential := options.Credential{AuthMechanism: "MONGODB-AWS", Username: c.key, Password: c.secret}
			if c.token != "" {
				credential.AuthMechanismProperties = map[string]string{"AWS_SESSION_TOKEN": c.token}
			}
			wantCode(t, ping(t, connect(t, rs, options.Client().SetAuth(credential))), c.code)
		})
	}
}

// accept is a provider that knows two tokens.
func accept(token string) (mongotest.TokenOwner, error) {
	owners := map[string]string{"ada's token": "ada", "bob's token": "bob"}
	if owners[token] == "" {
		return mongotest.TokenOwner{}, errors.New("nobody's token")
	}
	return mongotest.TokenOwner{Name: owners[token]}, nil
}

// returning is a callback that returns one token.
func returning(token string) options.OIDCCallback {
	return func(context.Context, *options.OIDCArgs) (*options.OIDCCredential, error) {
		return &options.OIDCCredential{AccessToken: token}, nil
	}
}

func TestTheOfficialDriverAuthenticatesByOIDC(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.OIDC(mongotest.IdentityProvider{Accept: accept}))
	for _, c := range []struct {
		token string
		code  int32
	}{{"ada's token", 0}, {"bob's token", 0}, {"eve's token", 18}} {
		t.Run(c.token, func(t *testing.T) {
			client := connect(t, rs, options.Client().SetAuth(options.Credential{
				AuthMechanism: "MONGODB-OIDC", OIDCMachineCallback: returning(c.token),
			}))
			wantCode(t, ping(t, client), c.code)
		})
	}
}

// A person is told the provider for the name, and the login is the one of the token.
func TestAPersonIsToldTheIdentityProvider(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.OIDC(
		mongotest.IdentityProvider{Issuer: "https://one", ClientID: "c1", RequestScopes: []string{"a", "b"}, MatchPattern: "@one$", Accept: accept},
		mongotest.IdentityProvider{Issuer: "https://two", ClientID: "c2", MatchPattern: "@two$", Accept: accept},
	))
	for _, c := range []struct {
		user, issuer, client string
		scopes               int
		code                 int32
	}{
		{"ada@one", "https://one", "c1", 2, 0},
		{"ada@two", "https://two", "c2", 0, 0},
		{"ada@three", "", "", 0, 18},
		{"", "", "", 0, 18},
	} {
		t.Run(c.user, func(t *testing.T) {
			var told *options.IDPInfo
			client := connect(t, rs, options.Client().SetAuth(options.Credential{
				AuthMechanism: "MONGODB-OIDC", Username: c.user, AuthMechanismProperties: map[string]string{"ALLOWED_HOSTS": "*"},
				OIDCHumanCallback: func(_ context.Context, args *options.OIDCArgs) (*options.OIDCCredential, error) {
					told = args.IDPInfo
					return &options.OIDCCredential{AccessToken: "ada's token"}, nil
				},
			}))
			wantCode(t, ping(t, client), c.code)
			switch {
			case c.code != 0 && told != nil:
				t.Errorf("the callback was told %+v, want no call", told)
			case c.code == 0 && (told == nil || told.Issuer != c.issuer || told.ClientID != c.client || len(told.RequestScopes) != c.scopes):
				t.Errorf("the callback was told %+v, want %s, %s and %d scopes", told, c.issuer, c.client, c.scopes)
			}
		})
	}
}

// The official driver asks for another token then.
func TestAnExpiredTokenIsRefusedWith391(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.OIDC(mongotest.IdentityProvider{
			Accept: func(string) (mongotest.TokenOwner, error) {
				return mongotest.TokenOwner{Name: "ada", Expires: time.Now().Add(time.Hour)}, nil
			},
		}))
		client := connect(t, rs, options.Client().SetAuth(options.Credential{
			AuthMechanism: "MONGODB-OIDC",
			OIDCMachineCallback: func(context.Context, *options.OIDCArgs) (*options.OIDCCredential, error) {
				calls++
				return &options.OIDCCredential{AccessToken: "t"}, nil
			},
		}))
		for hour, want := range []int{1, 2} {
			wantCode(t, ping(t, client), 0)
			if calls != want {
				t.Errorf("after %d hours the callback was called %d times, want %d", hour, calls, want)
			}
			<-time.After(time.Hour)
		}
	})
}

func TestTheOptionsOfCloudLoginsAreChecked(t *testing.T) {
	for _, c := range []struct {
		name   string
		option mongotest.Option
	}{
		{"no ARN", mongotest.AWS(mongotest.AWSIdentity{AccessKeyID: "a", SecretAccessKey: "s"})},
		{"no key", mongotest.AWS(mongotest.AWSIdentity{ARN: "arn", SecretAccessKey: "s"})},
		{"no secret", mongotest.AWS(mongotest.AWSIdentity{ARN: "arn", AccessKeyID: "a"})},
		{"no Accept", mongotest.OIDC(mongotest.IdentityProvider{})},
		{"a pattern that is none", mongotest.OIDC(mongotest.IdentityProvider{Accept: accept, MatchPattern: "("})},
	} {
		t.Run(c.name, func(t *testing.T) {
			if rs, err := mongotest.RunStandalone(c.option); err == nil {
				_ = rs.Close()
				t.Error("no error")
			}
		})
	}
}

// Without the options a server has not the mechanisms.
func TestServersHaveNoCloudLoginsByDefault(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.Users(mongotest.User{Name: "alice", Password: "s3cret"}))
	for _, mechanism := range []string{"MONGODB-AWS", "MONGODB-OIDC"} {
		_, err := rs.Command(0, "$external", bson.D{{Key: "saslStart", Value: 1}, {Key: "mechanism", Value: mechanism}, {Key: "payload", Value: []byte{5, 0, 0, 0, 0}}})
		if err == nil {
			t.Errorf("%s: no error", mechanism)
		}
	}
}
