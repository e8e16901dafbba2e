package mongo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/base/panicked"
	"github.com/holdfast-db/holdfast/internal/mongo/auth"
	"github.com/holdfast-db/holdfast/internal/mongo/cloudlogin"
)

// authenticator returns the authenticator of the connections, nil without credentials. It returns an error for credentials that no
// server can accept, before any network use. The error has no secret.
func authenticator(o *options.ClientOptions) (*auth.Authenticator, error) {
	if o.Auth == nil {
		return nil, nil
	}
	credential := auth.Credential{
		Mechanism: o.Auth.AuthMechanism, Source: o.Auth.AuthSource, Username: userOf(o.Auth), Password: o.Auth.Password,
	}
	err := checkMechanismOptions(o.Auth)
	if err == nil {
		switch credential.Mechanism {
		case auth.AWS:
			credential.AWS, err = awsKeys(o)
		case auth.OIDC:
			err = useOIDC(&credential, o)
		}
	}
	var a *auth.Authenticator
	if err == nil {
		a, err = auth.New(credential)
	}
	if err == nil && credential.Mechanism == auth.X509 {
		err = checkCertificate(o)
	}
	if err != nil {
		return nil, fmt.Errorf("mongo: Auth: %w", err)
	}
	return a, nil
}

// mechanismProperties are the properties that a mechanism has. OIDC's are checked by the options' own Validate.
var mechanismProperties = map[string][]string{
	auth.AWS:  {sessionToken},
	auth.OIDC: {environment, tokenResource, allowedHosts},
}

const (
	sessionToken  = "AWS_SESSION_TOKEN"
	environment   = "ENVIRONMENT"
	tokenResource = "TOKEN_RESOURCE"
	allowedHosts  = "ALLOWED_HOSTS"
)

// checkMechanismOptions returns an error for options that belong to another mechanism.
func checkMechanismOptions(c *options.Credential) error {
	for _, name := range slices.Sorted(maps.Keys(c.AuthMechanismProperties)) {
		if known := mechanismProperties[c.AuthMechanism]; c.AuthMechanism != "GSSAPI" && !slices.Contains(known, name) {
			return fmt.Errorf("AuthMechanismProperties has %s; %s", name, propertiesOf(c.AuthMechanism, known))
		}
	}
	switch {
	case c.AuthMechanism != auth.OIDC && (c.OIDCMachineCallback != nil || c.OIDCHumanCallback != nil):
		return errors.New("there is an OIDC callback, but AuthMechanism is not MONGODB-OIDC")
	case c.AuthMechanism != auth.AWS && c.AWSCredentialsProvider != nil:
		return errors.New("AWSCredentialsProvider is set, but AuthMechanism is not MONGODB-AWS")
	}
	return nil
}

func propertiesOf(mechanism string, known []string) string {
	switch {
	case mechanism == "":
		return "without AuthMechanism there are none"
	case len(known) == 0:
		return mechanism + " has none"
	}
	return mechanism + " has only " + strings.Join(known, ", ")
}

// userOf returns the user of a credential. The name of MONGODB-X509 is that of the certificate: the official parser of
// connection strings fills it in, and nobody sends it.
func userOf(c *options.Credential) string {
	if c.AuthMechanism == auth.X509 {
		return ""
	}
	return c.Username
}

// checkCertificate returns an error if MONGODB-X509 has no certificate to show. The application's own dialer may show one.
func checkCertificate(o *options.ClientOptions) error {
	switch t := o.TLSConfig; {
	case t == nil && o.Dialer != nil:
		return nil
	case t == nil:
		return errors.New("MONGODB-X509 needs TLS with a client's certificate: set TLSConfig or tlsCertificateKeyFile")
	case len(t.Certificates) == 0 && t.GetClientCertificate == nil:
		return errors.New("MONGODB-X509 needs a client's certificate, and TLSConfig has none")
	}
	return nil
}

// awsKeys returns the keys of MONGODB-AWS.
func awsKeys(o *options.ClientOptions) (auth.Keys, error) {
	c := o.Auth
	given := cloudlogin.Key{ID: c.Username, Secret: c.Password, SessionToken: c.AuthMechanismProperties[sessionToken]}
	switch {
	case (c.Username == "") != (c.Password == ""):
		return nil, errors.New("MONGODB-AWS needs both Username (the access key ID) and Password (the key), or none of them")
	case c.Username == "" && given.SessionToken != "":
		return nil, errors.New("AWS_SESSION_TOKEN needs a Username (the access key ID) and a Password (the key)")
	}
	var provider cloudlogin.Provider
	if p := c.AWSCredentialsProvider; p != nil {
		provider = func(ctx context.Context) (cloudlogin.Key, error) {
			got, err := panicked.Apart(ctx, "AWSCredentialsProvider", p.Retrieve)
			key := cloudlogin.Key{ID: got.AccessKeyID, Secret: got.SecretAccessKey, SessionToken: got.SessionToken}
			if got.CanExpire {
				key.Expires = got.Expires
			}
			return key, err
		}
	}
	return cloudlogin.NewKeys(given, provider, httpClient(o)), nil
}

// defaultAllowedHosts are the hosts that may ask for the token of a person. Source: Driver Authentication, "ALLOWED_HOSTS".
var defaultAllowedHosts = []string{
	"*.mongodb.net", "*.mongodb-qa.net", "*.mongodb-dev.net", "*.mongodbgov.net", "localhost", "127.0.0.1", "::1", "*.mongo.com",
}

// useOIDC sets the token source of MONGODB-OIDC. The options' own Validate has checked that there is one.
func useOIDC(credential *auth.Credential, o *options.ClientOptions) error {
	c := o.Auth
	where, resource := c.AuthMechanismProperties[environment], c.AuthMechanismProperties[tokenResource]
	if resource != "" && where != "azure" && where != "gcp" {
		return errors.New("TOKEN_RESOURCE is for the environments azure and gcp")
	}
	if where != "" && (c.OIDCHumanCallback != nil || c.OIDCMachineCallback != nil) {
		return fmt.Errorf("there is an OIDC callback, and AuthMechanismProperties has ENVIRONMENT %q; a login has one source of tokens", where)
	}
	switch {
	case c.OIDCHumanCallback != nil:
		credential.Tokens, credential.People = callTokens(c.OIDCHumanCallback), true
		credential.AllowedHosts = defaultAllowedHosts
		if hosts, ok := c.AuthMechanismProperties[allowedHosts]; ok {
			credential.AllowedHosts = strings.Split(hosts, ",")
		}
	case c.OIDCMachineCallback != nil:
		credential.Tokens = callTokens(c.OIDCMachineCallback)
	default:
		credential.Tokens = environmentTokens(o, where, resource)
	}
	return nil
}

// environmentTokens returns the tokens of a cloud.
func environmentTokens(o *options.ClientOptions, where, resource string) auth.TokenSource {
	switch where {
	case "azure":
		return cloudlogin.Azure(httpClient(o), resource, o.Auth.Username)
	case "gcp":
		return cloudlogin.GCP(httpClient(o), resource)
	case "k8s":
		return cloudlogin.Kubernetes
	default: // "test"
		return cloudlogin.File
	}
}

// callbackVersion is the version of the callbacks' arguments. Source: Driver Authentication, "OIDC Callback".
const callbackVersion = 1

var errNilToken = errors.New("it has returned neither a credential nor an error")

// callTokens returns the tokens of the application's callback.
func callTokens(callback options.OIDCCallback) auth.TokenSource {
	return func(ctx context.Context, r auth.TokenRequest) (auth.Token, error) {
		args := &options.OIDCArgs{Version: callbackVersion, RefreshToken: r.Refresh}
		if p := r.Provider; p != nil {
			args.IDPInfo = &options.IDPInfo{Issuer: p.Issuer, ClientID: p.ClientID, RequestScopes: p.RequestScopes}
		}
		got, err := callback(ctx, args)
		switch {
		case err != nil:
			return auth.Token{}, err
		case got == nil:
			return auth.Token{}, errNilToken
		}
		return auth.Token{Access: got.AccessToken, Refresh: got.RefreshToken}, nil
	}
}

// httpClient returns the client for the metadata services of clouds.
func httpClient(o *options.ClientOptions) *http.Client {
	if o.HTTPClient != nil {
		return o.HTTPClient
	}
	return http.DefaultClient
}
