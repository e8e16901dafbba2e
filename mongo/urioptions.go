package mongo

import (
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/internal/mongo/logging"
)

// uriOptions are the options of the connection string that are supported, in lower case: all that the official parser supports, and
// the deprecated time limits and options for reads, which it ignores.
var uriOptions = supported(
	"appname", "connect", "connecttimeoutms", "directconnection", "enableoverloadretargeting", "heartbeatfrequencyms", "heartbeatintervalms", "journal",
	"loadbalanced", "localthresholdms", "maxadaptiveretries", "maxconnecting", "maxidletimems", "maxpoolsize", "minpoolsize",
	"maxstaleness", "maxstalenessseconds", "readconcernlevel", "readpreference", "readpreferencetags", "replicaset", "retryreads",
	"retrywrites", "servermonitoringmode", "serverselectiontimeoutms", "timeoutms", "w",
	"authmechanism", "authmechanismproperties", "authsource", "tls", "ssl", "tlscafile", "sslcertificateauthorityfile",
	"tlscertificatekeyfile", "sslclientcertificatekeyfile", "tlscertificatekeyfilepassword", "sslclientcertificatekeypassword",
	"tlscertificatefile", "tlsprivatekeyfile", "tlsinsecure", "sslinsecure", "tlsallowinvalidcertificates", "tlsallowinvalidhostnames",
	"tlsdisableocspendpointcheck", "tlsdisablecertificaterevocationcheck",
	"proxyhost", "proxyport", "proxyusername", "proxypassword",
	"compressors", "zlibcompressionlevel", "zstdcompressionlevel", "srvmaxhosts", "srvservicename",
	socketTimeoutMS, waitQueueTimeoutMS, wTimeoutMS, slaveOk, secondaryAcceptableLatencyMS,
)

// ignoredOption is an option of the connection string that has no effect, as in the official driver.
type ignoredOption struct {
	values []string // the values that it may have; nil permits every value
	why    string   // for the log; empty if the client does what the option asks for
}

// ignoredOptions are in lower case. Options that nobody knows are ignored too: Connection String specification, "Keys".
var ignoredOptions = map[string]ignoredOption{
	"fsync":                  {why: "journal has replaced it"},
	"safe":                   {why: "w has replaced it"},
	"serverselectiontryonce": {why: "it is for clients without threads"},
	"uuidrepresentation":     {values: []string{"standard", "unspecified"}},
	"waitqueuemultiple":      {why: "the number of waiting operations has no limit"},
	"waitqueuesize":          {why: "the number of waiting operations has no limit"},
	"wtimeout":               {why: "wTimeoutMS has replaced it"},
}

// checkURI checks the options of a connection string, as far as the official parser does not.
func checkURI(uri string) error {
	for name, value := range optionsOf(uri) {
		if err := checkURIOption(name, value); err != nil {
			return err
		}
	}
	if _, err := parseLegacyTimeouts(uri); err != nil {
		return err
	}
	if _, err := parseProxy(uri); err != nil {
		return err
	}
	return checkTLSOptions(tlsGiven(uri))
}

// checkURIOption returns an error if an option of the connection string must not have the value.
func checkURIOption(name, value string) error {
	if ignored := ignoredOptions[strings.ToLower(name)]; ignored.values != nil && !slices.Contains(ignored.values, value) {
		return fmt.Errorf("mongo: the connection string's option %q with the value %q is not supported by Holdfast", name, value)
	}
	return nil
}

// logIgnoredOptions logs each option of the connection string that has no effect.
func logIgnoredOptions(log *logging.Logger, uri string) {
	for name := range optionsOf(uri) {
		if why := whyIgnored(strings.ToLower(name)); why != "" {
			log.Log(logging.Connection, logging.Info, "Connection string option ignored", "option", name, "reason", why)
		}
	}
}

// whyIgnored returns why an option has no effect, empty if that is not so. The name is in lower case.
func whyIgnored(name string) string {
	ignored, known := ignoredOptions[name]
	if name == "" || uriOptions[name] || known {
		return ignored.why
	}
	return "Holdfast does not know it"
}

// optionsOf returns the names and the values of the options of a connection string. A "?" before the "@" belongs to the
// password.
func optionsOf(uri string) iter.Seq2[string, string] {
	if _, after, ok := strings.Cut(uri, "@"); ok {
		uri = after
	}
	_, query, _ := strings.Cut(uri, "?")
	return func(yield func(string, string) bool) {
		for pair := range strings.FieldsFuncSeq(query, isOptionSeparator) {
			name, value, _ := strings.Cut(pair, "=")
			if decoded, err := url.QueryUnescape(name); err == nil {
				name = decoded
			}
			if !yield(name, value) {
				return
			}
		}
	}
}

// isOptionSeparator reports whether r separates the options of a connection string, as for the official parser.
func isOptionSeparator(r rune) bool { return r == '&' || r == ';' }

// uriValue returns the value of an option of the connection string, whose name is given in lower case, or "".
func uriValue(uri, name string) string {
	for key, value := range optionsOf(uri) {
		if strings.EqualFold(key, name) {
			return value
		}
	}
	return ""
}
