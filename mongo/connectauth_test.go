package mongo_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
)

const closedPort = "mongodb://127.0.0.1:1/"

// Wrong credentials and contradictory options get an error that names the field, before any network use.
func TestConnectRefusesCredentialsAndTLSOptions(t *testing.T) {
	credential := func(c options.Credential) *options.ClientOptions {
		return options.Client().ApplyURI(unknownHost).SetAuth(c)
	}
	uri := func(query string) *options.ClientOptions {
		return options.Client().ApplyURI(unknownHost + "/?" + query)
	}
	for _, c := range []struct {
		name string
		o    *options.ClientOptions
		want string
	}{
		{"no username", credential(options.Credential{Password: "secret"}), "Username"},
		{"MONGODB-AWS with half a key", credential(options.Credential{AuthMechanism: "MONGODB-AWS", Username: "u"}), "both Username"},
		{"MONGODB-AWS with the other half", credential(options.Credential{AuthMechanism: "MONGODB-AWS", Password: "secret"}), "both Username"},
		{
			"a session token without a key of MONGODB-AWS", credential(options.Credential{
				AuthMechanism: "MONGODB-AWS", AuthMechanismProperties: map[string]string{"AWS_SESSION_TOKEN": "secret"},
			}), "AWS_SESSION_TOKEN needs",
		},
		{"another property of MONGODB-AWS", credential(options.Credential{
			AuthMechanism: "MONGODB-AWS", AuthMechanismProperties: map[string]string{"ENVIRONMENT": "secret"},
		}), "MONGODB-AWS has only AWS_SESSION_TOKEN"},
		{"MONGODB-AWS with another source", credential(options.Credential{AuthMechanism: "MONGODB-AWS", AuthSource: "app"}), "AuthSource"},
		{"a provider of another mechanism", credential(options.Credential{
			Username: "u", Password: "secret", AWSCredentialsProvider: provider{},
		}), "AWSCredentialsProvider"},
		{"MONGODB-OIDC with nothing", uri("authMechanism=MONGODB-OIDC"), "ENVIRONMENT"},
		{"MONGODB-OIDC with a resource that its environment does not use", uri(
			"authMechanism=MONGODB-OIDC&authMechanismProperties=ENVIRONMENT:k8s,TOKEN_RESOURCE:r"), "TOKEN_RESOURCE"},
		{"GSSAPI", options.Client().ApplyURI("mongodb://u@server.example:1/?authMechanism=GSSAPI"), "use MONGODB-X509"},
		{"an unknown mechanism", credential(options.Credential{AuthMechanism: "MONGODB-CR", Username: "u", Password: "secret"}), `"MONGODB-CR"`},
		{"properties", credential(options.Credential{Username: "u", Password: "secret", AuthMechanismProperties: map[string]string{"A": "secret"}}), "AuthMechanismProperties"},
		{
			"a callback of another mechanism", credential(options.Credential{
				Username: "u", Password: "secret",
				OIDCMachineCallback: func(context.Context, *options.OIDCArgs) (*options.OIDCCredential, error) { return nil, nil },
			}), "OIDC callback",
		},
		{"MONGODB-X509 without TLS", uri("authMechanism=MONGODB-X509"), "needs TLS"},
		{
			"MONGODB-X509 without a certificate",
			uri("authMechanism=MONGODB-X509").SetTLSConfig(&tls.Config{}), "needs a client's certificate",
		},
		{"MONGODB-X509 with another source", credential(options.Credential{AuthMechanism: "MONGODB-X509", AuthSource: "app"}), "AuthSource"},
		{"an invalid percent-encoding in the password", options.Client().ApplyURI("mongodb://u:secret%zz@server.example:1/"), "password"},
		{"a forgotten @", options.Client().ApplyURI("mongodb://u:secret/"), `is there an "@"`},
		{"a forgotten @ with a host", options.Client().ApplyURI("mongodb://u:secret:127.0.0.1:1/"), `is there an "@"`},
		{"a forgotten @ with a percent sign", options.Client().ApplyURI("mongodb://u:secret%zz/"), `is there an "@"`},
		{"an invalid percent-encoding in an option", uri("authMechanismProperties=AWS_SESSION_TOKEN:secret%zz"), "option"},
		{"tls and ssl that differ", uri("tls=true&ssl=false"), "tls and ssl"},
		{"tls without a boolean", uri("tls=yes"), "tls"},
		{"a file of authorities without TLS", uri("tls=false&tlsCAFile=ca.pem"), "tlsCAFile"},
		{"a file of authorities without TLS, in another order", uri("tlsCAFile=connectauth_test.go&tls=false"), "CA"},
		{"a file that is not there", uri("tlsCAFile=nothing.pem"), "nothing.pem"},
		{"tlsInsecure and tlsAllowInvalidHostnames", uri("tls=true&tlsInsecure=false&tlsAllowInvalidHostnames=true"), "tlsAllowInvalidHostnames"},
		{"sslInsecure and tlsAllowInvalidCertificates", uri("sslInsecure=true&tlsAllowInvalidCertificates=true"), "tlsInsecure"},
		{"tlsInsecure and tlsDisableOCSPEndpointCheck", uri("tlsInsecure=false&tlsDisableOCSPEndpointCheck=false"), "tlsDisableOCSPEndpointCheck"},
		{"sslInsecure and tlsDisableCertificateRevocationCheck", uri("tlsDisableCertificateRevocationCheck=false&sslInsecure=false"), "tlsDisableCertificateRevocationCheck"},
		{"tlsAllowInvalidCertificates and tlsDisableOCSPEndpointCheck", uri("tlsAllowInvalidCertificates=false&tlsDisableOCSPEndpointCheck=false"), "tlsDisableOCSPEndpointCheck"},
		{
			"tlsAllowInvalidCertificates and tlsDisableCertificateRevocationCheck",
			uri("tlsAllowInvalidCertificates=false&tlsDisableCertificateRevocationCheck=false"), "tlsDisableCertificateRevocationCheck",
		},
		{"the two that disable checks of revocation", uri("tlsDisableOCSPEndpointCheck=false&tlsDisableCertificateRevocationCheck=false"), "cannot be used with"},
		{"tlsAllowInvalidHostnames without a boolean", uri("tlsAllowInvalidHostnames=yes"), "true or false"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := &networkUse{}
			n.countQueries(t)
			if c.o.Auth == nil || c.o.Auth.AuthMechanism != "MONGODB-X509" { // its dialer may make TLS
				c.o.SetDialer(n)
			}
			err := refused(t, n, func() (*mongo.Client, error) { return mongo.Connect(c.o) })
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q is not in: %v", c.want, err)
			}
			if text := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(text, "secret") {
				t.Errorf("the error shows the password: %s", text)
			}
		})
	}
}

// An application whose own dialer makes TLS may show a certificate in it.
func TestMONGODBX509WithADialerOfTheApplication(t *testing.T) {
	o := options.Client().ApplyURI(closedPort + "?authMechanism=MONGODB-X509").SetDialer(&net.Dialer{})
	client, err := mongo.Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Disconnect(t.Context()); err != nil {
		t.Error(err)
	}
}

// docs/LOGIN.md recommends url.UserPassword.
func TestAPasswordThatIsEncodedInAConnectionString(t *testing.T) {
	for _, password := range []string{"p@ss", "p:ss", "p/ss", "p%41", "p ss", "p+ss", "p?ss#", "p&a=b;c", "[p]", "pä\u2168", `p"'\`} {
		o := options.Client().ApplyURI("mongodb://" + url.UserPassword("al:ice", password).String() + "@127.0.0.1:1/?appName=a")
		if o.Auth == nil || o.Auth.Username != "al:ice" || o.Auth.Password != password {
			t.Errorf("%q is read as %+v", password, o.Auth)
		}
		client, err := mongo.Connect(o)
		if err != nil {
			t.Errorf("%q: %v", password, err)
			continue
		}
		if err := client.Disconnect(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// provider is a source of AWS keys.
type provider struct{}

func (provider) Retrieve(context.Context) (options.AWSCredentials, error) {
	return options.AWSCredentials{}, nil
}
