package calls

import (
	"crypto/tls"
	"crypto/x509"
	"time"

	couchbase "github.com/couchbase/gocb/v2"
)

// Client is a client of a recorded cluster.
type Client struct {
	cluster *couchbase.Cluster
	bucket  *couchbase.Bucket
	c       *couchbase.Collection
}

// Options say how a client connects.
type Options struct {
	Username    string
	Password    string
	Mechanisms  []string         // of the login; nil: the client's own choice, on which the two do not agree
	Roots       *x509.CertPool   // nil: no TLS
	Certificate *tls.Certificate // nil: it logs in with a password
	Token       string           // "": it logs in with a password
	ServerGroup string           // the preferred one, "" for none
	NoTokens    bool             // the server is not asked for mutation tokens
}

// Connect returns a client that is connected to all nodes. end ends it.
func Connect(connStr string, o Options) (c *Client, end func(), err error) {
	options := couchbase.ClusterOptions{
		Username: o.Username, Password: o.Password, PreferredServerGroup: o.ServerGroup,
		IoConfig:       couchbase.IoConfig{DisableMutationTokens: o.NoTokens},
		SecurityConfig: couchbase.SecurityConfig{TLSRootCAs: o.Roots},
	}
	for _, name := range o.Mechanisms {
		options.SecurityConfig.AllowedSaslMechanisms = append(options.SecurityConfig.AllowedSaslMechanisms, couchbase.SaslMechanism(name))
	}
	if o.Certificate != nil {
		options.Username, options.Password = "", ""
		options.Authenticator = couchbase.CertificateAuthenticator{ClientCertificate: o.Certificate}
	}
	if o.Token != "" {
		options.Username, options.Password = "", ""
		options.Authenticator = &couchbase.JWTAuthenticator{Token: o.Token}
	}
	cluster, err := couchbase.Connect(connStr, options)
	if err != nil {
		return nil, nil, err
	}
	bucket := cluster.Bucket("default")
	if err := bucket.WaitUntilReady(20*time.Second, &couchbase.WaitUntilReadyOptions{ServiceTypes: []couchbase.ServiceType{couchbase.ServiceTypeKeyValue}}); err != nil {
		cluster.Close(nil)
		return nil, nil, err
	}
	return &Client{cluster, bucket, bucket.DefaultCollection()}, func() { cluster.Close(nil) }, nil
}
