package mongo

import "regexp"

// listedURIs are the cases of the published suites with another result than the suite wants, by the reason. text must match the
// result. A case that passes must not be listed.
var listedURIs = []struct {
	why   string
	text  string
	cases []string
}{
	{
		why:  "bad input gets a clear error; the specification would ignore the option and warn",
		text: `^mongo: error parsing uri: invalid (value for "\w+"|.directConnection. value): "[\w-]*"$`,
		cases: []string{
			"valid-warnings: Empty integer option values are ignored",
			"valid-warnings: Empty boolean option value are ignored",
			"client-backpressure-options: maxAdaptiveRetries with invalid value causes a warning",
			"client-backpressure-options: enableOverloadRetargeting with invalid value causes a warning",
			"compression-options: Non-numeric zlibCompressionLevel causes a warning",
			"compression-options: Too low zlibCompressionLevel causes a warning",
			"compression-options: Too high zlibCompressionLevel causes a warning",
			"concern-options: Invalid journal causes a warning",
			"connection-options: Non-numeric connectTimeoutMS causes a warning",
			"connection-options: Too low connectTimeoutMS causes a warning",
			"connection-options: Non-numeric heartbeatFrequencyMS causes a warning",
			"connection-options: Too low heartbeatFrequencyMS causes a warning",
			"connection-options: Non-numeric localThresholdMS causes a warning",
			"connection-options: Too low localThresholdMS causes a warning",
			"connection-options: Invalid retryWrites causes a warning",
			"connection-options: Non-numeric serverSelectionTimeoutMS causes a warning",
			"connection-options: Too low serverSelectionTimeoutMS causes a warning",
			"connection-options: Non-numeric socketTimeoutMS causes a warning",
			"connection-options: Too low socketTimeoutMS causes a warning",
			"connection-options: Invalid directConnection value",
			"connection-options: Invalid loadBalanced value",
			"connection-options: Non-numeric timeoutMS causes a warning",
			"connection-options: Too low timeoutMS causes a warning",
			"connection-pool-options: Non-numeric maxIdleTimeMS causes a warning",
			"connection-pool-options: Too low maxIdleTimeMS causes a warning",
			"connection-pool-options: maxConnecting<0 causes a warning",
			"read-preference-options: Invalid readPreferenceTags causes a warning",
			"read-preference-options: Non-numeric maxStalenessSeconds causes a warning",
			"read-preference-options: Too low maxStalenessSeconds causes a warning",
			"sdam-options: invalid serverMonitoringMode",
			"tls-options: Invalid tlsInsecure causes a warning",
		},
	},
	{
		why:  "bad input gets a clear error; the specification would ignore the option and warn",
		text: `^mongo: the connection string\'s option "\w+" is "invalid"; it must be true or false$`,
		cases: []string{
			"tls-options: Invalid tlsAllowInvalidCertificates causes a warning",
			"tls-options: Invalid tlsAllowInvalidHostnames causes a warning",
		},
	},
	{
		why:  "bad input gets a clear error; the specification would ignore the option and warn",
		text: `^mongo: the connection string\'s option "wTimeoutMS" is "(invalid|-2)"; it must be a number of milliseconds, 0 or more$`,
		cases: []string{
			"concern-options: Non-numeric wTimeoutMS causes a warning",
			"concern-options: Too low wTimeoutMS causes a warning",
		},
	},
	{
		why:   "the option is for clients without threads; it is ignored",
		text:  `^no test knows the option serverSelectionTryOnce$`,
		cases: []string{"single-threaded-options: Valid options specific to single-threaded drivers are parsed correctly"},
	},
	{
		why:  "the official parser, which ApplyURI is, refuses it",
		text: `^mongo: error parsing uri: must have a / before the query \?$`,
		cases: []string{
			"valid-options: Missing delimiting slash between hosts and options",
			"valid-warnings: Comma in a key value pair causes a warning",
		},
	},
	{
		why:  "GSSAPI is not supported; the error names the way out",
		text: `^mongo: Auth: the authentication mechanism GSSAPI \(Kerberos\) is not supported by Holdfast; use `,
		cases: []string{
			"valid-auth: Escaped username (GSSAPI)",
			"auth-options: Valid auth options are parsed correctly (GSSAPI)",
			"auth: should recognise the mechanism (GSSAPI)",
			"auth: should ignore the database (GSSAPI)",
			"auth: should accept valid authSource (GSSAPI)",
			"auth: should accept generic mechanism property (GSSAPI)",
			"auth: should accept forwardAndReverse hostname canonicalization (GSSAPI)",
			"auth: should accept no hostname canonicalization (GSSAPI)",
			"auth: should accept the password (GSSAPI)",
		},
	},
	{
		why:   "another case of the suite wants it accepted, and the official driver accepts it",
		text:  `^it is accepted$`,
		cases: []string{"auth: should throw an exception if username and password provided (MONGODB-AWS)"},
	},
}

// listedURICases returns, by the name of a listed case, what its result must match.
func listedURICases() map[string]*regexp.Regexp {
	cases := make(map[string]*regexp.Regexp)
	for _, l := range listedURIs {
		for _, name := range l.cases {
			cases[name] = regexp.MustCompile(l.text)
		}
	}
	return cases
}
