package mongo

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/revocation"
)

// tlsAliases has the older names of TLS options in a connection string, in lower case.
var tlsAliases = map[string]string{
	"ssl":                             "tls",
	"sslinsecure":                     "tlsInsecure",
	"sslcertificateauthorityfile":     "tlsCAFile",
	"sslclientcertificatekeyfile":     "tlsCertificateKeyFile",
	"sslclientcertificatekeypassword": "tlsCertificateKeyFilePassword",
}

// tlsOptions are the TLS options of a connection string.
var tlsOptions = []string{
	"tls", "tlsInsecure", "tlsCAFile", "tlsCertificateKeyFile", "tlsCertificateKeyFilePassword", "tlsCertificateFile", "tlsPrivateKeyFile",
	"tlsAllowInvalidCertificates", "tlsAllowInvalidHostnames", "tlsDisableOCSPEndpointCheck", "tlsDisableCertificateRevocationCheck",
}

// tlsConflicts are options that exclude each other, whatever their values (URI Options, "tlsInsecure"). More such pairs, the official parser
// refuses: those of tlsInsecure or of the files, and the two that disable.
var tlsConflicts = [][2]string{
	{"tlsInsecure", "tlsAllowInvalidCertificates"},
	{"tlsInsecure", "tlsAllowInvalidHostnames"},
	{"tlsAllowInvalidCertificates", "tlsDisableOCSPEndpointCheck"},
	{"tlsAllowInvalidCertificates", "tlsDisableCertificateRevocationCheck"},
}

// tlsImplied are the options with which the official parser switches TLS on.
var tlsImplied = []string{
	"tlsCAFile", "tlsCertificateKeyFile", "tlsCertificateFile", "tlsPrivateKeyFile", "tlsDisableOCSPEndpointCheck",
	"tlsDisableCertificateRevocationCheck",
}

// tlsGiven returns the TLS options of a connection string with their values, by their names in tlsOptions.
func tlsGiven(uri string) map[string]string {
	given := make(map[string]string)
	for name, value := range optionsOf(uri) {
		lower := strings.ToLower(name)
		if newer, ok := tlsAliases[lower]; ok {
			lower = strings.ToLower(newer)
		}
		if i := slices.IndexFunc(tlsOptions, func(o string) bool { return strings.EqualFold(o, lower) }); i >= 0 {
			given[tlsOptions[i]] = value
		}
	}
	return given
}

// checkTLSOptions returns an error for TLS options of a connection string that contradict each other. The official parser
// checks some of them, and ignores tlsAllowInvalidCertificates and tlsAllowInvalidHostnames.
func checkTLSOptions(given map[string]string) error {
	has := func(name string) bool { _, ok := given[name]; return ok }
	for _, pair := range tlsConflicts {
		if has(pair[0]) && has(pair[1]) {
			return fmt.Errorf("mongo: the connection string's options %q and %q exclude each other", pair[0], pair[1])
		}
	}
	for _, name := range tlsImplied {
		if given["tls"] == "false" && has(name) {
			return fmt.Errorf("mongo: the connection string's option %q needs TLS, but %q is false", name, "tls")
		}
	}
	for _, name := range []string{"tlsAllowInvalidCertificates", "tlsAllowInvalidHostnames"} {
		if value := given[name]; has(name) && value != "true" && value != "false" {
			return fmt.Errorf("mongo: the connection string's option %q is %q; it must be true or false", name, value)
		}
	}
	return nil
}

// leniency returns the checks of the server's certificate that a connection string switches off, which the official parser
// does not know.
func leniency(given map[string]string) cluster.Leniency {
	return cluster.Leniency{
		Chain: given["tlsAllowInvalidCertificates"] == "true",
		Host:  given["tlsAllowInvalidHostnames"] == "true",
	}
}

// revocationCheck returns what checks whether servers' certificates were revoked, nil if nothing does: the specification "OCSP Support" switches
// it off with each option that makes the certificate worthless. That of a tls.Config, package cluster sees.
func revocationCheck(o *options.ClientOptions) *revocation.Checker {
	if o.TLSConfig == nil || valueOr(o.DisableCertificateRevocationCheck, false) || leniency(tlsGiven(o.GetURI())).Chain {
		return nil
	}
	return revocation.New(o.HTTPClient, valueOr(o.DisableOCSPEndpointCheck, false))
}
