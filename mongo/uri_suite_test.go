package mongo

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest"
	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
)

// uriCase is a case of the suites connection-string, uri-options and auth.
type uriCase struct {
	Description string
	URI         string
	Valid       bool
	Warning     bool
	Hosts       []struct {
		Type string
		Host string
		Port *int
	}
	Auth *struct {
		Username, Password, DB *string
	}
	Options    bson.M
	Credential *struct {
		Username, Password, Source, Mechanism *string
		Properties                            map[string]string `bson:"mechanism_properties"`
	}
}

// understood has the settings of a client that Connect finds in a connection string.
type understood struct {
	o      *options.ClientOptions
	cfg    cluster.Config
	legacy legacyTimeouts
}

// understand follows Connect up to the first use of the network. For MONGODB-X509 the application has a certificate.
func understand(uri string) (understood, error) {
	o := options.Client().ApplyURI(uri)
	if o.Auth != nil && o.Auth.AuthMechanism == "MONGODB-X509" && o.TLSConfig == nil {
		o.SetTLSConfig(&tls.Config{Certificates: make([]tls.Certificate, 1)})
	}
	if err := validate(o, nil); err != nil {
		return understood{o: o}, err
	}
	legacy, err := parseLegacyTimeouts(o.GetURI())
	if err != nil {
		return understood{o: o}, err
	}
	login, err := authenticator(o)
	return understood{o: o, cfg: clusterConfig(o, login), legacy: legacy}, err
}

// wrong returns the settings that are not those of the case.
func (c *uriCase) wrong(u understood) []string {
	wrong := slices.Concat(c.wrongHosts(u), c.wrongAuth(u), c.wrongCredential(u))
	for name, want := range c.Options {
		get := uriOptionValues[strings.ToLower(name)]
		if get == nil {
			wrong = append(wrong, "no test knows the option "+name)
			continue
		}
		if got := fmt.Sprint(get(u)); got != fmt.Sprint(plain(want)) {
			wrong = append(wrong, fmt.Sprintf("%s is %s, want %v", name, got, plain(want)))
		}
	}
	return wrong
}

// plain returns documents as maps, whose text has sorted keys, and arrays as slices.
func plain(v any) any {
	switch v := v.(type) {
	case bson.D:
		m := map[string]any{}
		for _, e := range v {
			m[e.Key] = plain(e.Value)
		}
		return m
	case bson.A:
		s := make([]any, len(v))
		for i := range v {
			s[i] = plain(v[i])
		}
		return s
	}
	return v
}

func (c *uriCase) wrongHosts(u understood) []string {
	if c.Hosts == nil {
		return nil
	}
	var want []string
	for _, h := range c.Hosts {
		if h.Type == "unix" {
			want = append(want, h.Host)
			continue
		}
		port := defaultPort
		if h.Port != nil {
			port = strconv.Itoa(*h.Port)
		}
		want = append(want, net.JoinHostPort(strings.ToLower(h.Host), port))
	}
	if got := u.cfg.Topology.Seeds; !slices.Equal(got, want) {
		return []string{fmt.Sprintf("the hosts are %v, want %v", got, want)}
	}
	return nil
}

// credentialOf returns the credential, an empty one if there is none.
func (u understood) credentialOf() options.Credential { return valueOr(u.o.Auth, options.Credential{}) }

func (c *uriCase) wrongAuth(u understood) []string {
	if c.Auth == nil {
		return nil
	}
	got := u.credentialOf()
	var wrong []string
	for _, f := range []struct {
		name, got string
		want      *string
	}{{"username", got.Username, c.Auth.Username}, {"password", got.Password, c.Auth.Password}} {
		if f.got != valueOr(f.want, "") {
			wrong = append(wrong, fmt.Sprintf("the %s is %q, want %q", f.name, f.got, valueOr(f.want, "")))
		}
	}
	if db := valueOr(c.Auth.DB, ""); u.o.Auth != nil && got.AuthMechanism == "" && c.Options["authsource"] == nil && db != "" && got.AuthSource != db {
		wrong = append(wrong, fmt.Sprintf("the source is %q, want %q", got.AuthSource, db))
	}
	return wrong
}

func (c *uriCase) wrongCredential(u understood) []string {
	if c.Credential == nil {
		return nil
	}
	got, want := u.credentialOf(), c.Credential
	var wrong []string
	for _, f := range []struct {
		name, got string
		want      *string
	}{
		{"username", got.Username, want.Username},
		{"password", got.Password, want.Password},
		{"source", got.AuthSource, want.Source},
		{"mechanism", got.AuthMechanism, want.Mechanism},
	} {
		if f.got != valueOr(f.want, "") {
			wrong = append(wrong, fmt.Sprintf("the %s is %q, want %q", f.name, f.got, valueOr(f.want, "")))
		}
	}
	if !maps.Equal(got.AuthMechanismProperties, want.Properties) {
		wrong = append(wrong, fmt.Sprintf("the properties are %v, want %v", got.AuthMechanismProperties, want.Properties))
	}
	if source := fmt.Sprintf("source %q", valueOr(want.Source, "")); u.cfg.Auth != nil && !strings.Contains(u.cfg.Auth.String(), source) {
		wrong = append(wrong, fmt.Sprintf("the login is that of %v, want the %s", u.cfg.Auth, source))
	}
	return wrong
}

func milliseconds(d *time.Duration) any { return valueOr(d, -1).Milliseconds() }

// uriOptionValues returns the value of an option, by its name in lower case, as the suites write it.
var uriOptionValues = map[string]func(understood) any{
	"appname":                   func(u understood) any { return u.cfg.Handshake.AppName },
	"authmechanism":             func(u understood) any { return u.credentialOf().AuthMechanism },
	"authmechanismproperties":   func(u understood) any { return u.credentialOf().AuthMechanismProperties },
	"authsource":                func(u understood) any { return u.credentialOf().AuthSource },
	"compressors":               func(u understood) any { return u.cfg.Handshake.Compressors },
	"connecttimeoutms":          func(u understood) any { return u.cfg.ConnectTimeout.Milliseconds() },
	"directconnection":          func(u understood) any { return valueOr(u.cfg.Topology.Direct, false) },
	"enableoverloadretargeting": func(u understood) any { return valueOr(u.o.EnableOverloadRetargeting, false) },
	"heartbeatfrequencyms":      func(u understood) any { return u.cfg.HeartbeatInterval.Milliseconds() },
	"journal":                   func(u understood) any { return *u.o.WriteConcern.Journal },
	"loadbalanced":              func(u understood) any { return valueOr(u.o.LoadBalanced, false) },
	"localthresholdms":          func(u understood) any { return milliseconds(u.o.LocalThreshold) },
	"maxadaptiveretries":        func(u understood) any { return valueOr(u.o.MaxAdaptiveRetries, 99) },
	"maxconnecting":             func(u understood) any { return u.cfg.MaxConnecting },
	"maxidletimems":             func(u understood) any { return u.cfg.MaxConnIdleTime.Milliseconds() },
	"maxpoolsize":               func(u understood) any { return valueOr(u.o.MaxPoolSize, 99) },
	"minpoolsize":               func(u understood) any { return valueOr(u.o.MinPoolSize, 99) },
	"maxstalenessseconds": func(u understood) any {
		d, _ := u.o.ReadPreference.MaxStaleness()
		return d.Seconds()
	},
	"readconcernlevel": func(u understood) any { return u.o.ReadConcern.Level },
	"readpreference":   func(u understood) any { return u.o.ReadPreference.Mode().String() },
	"readpreferencetags": func(u understood) any {
		sets := []any{}
		for _, set := range u.o.ReadPreference.TagSets() {
			m := map[string]any{}
			for _, t := range set {
				m[t.Name] = t.Value
			}
			sets = append(sets, m)
		}
		return sets
	},
	"replicaset":  func(u understood) any { return u.cfg.Topology.SetName },
	"retrywrites": func(u understood) any { return valueOr(u.o.RetryWrites, false) },
	"servermonitoringmode": func(u understood) any {
		return cmp.Or(valueOr(u.o.ServerMonitoringMode, uriValue(u.o.GetURI(), "servermonitoringmode")), "auto")
	},
	socketTimeoutMS:            func(u understood) any { return u.legacy.socket.Milliseconds() },
	wTimeoutMS:                 func(u understood) any { return u.legacy.w.Milliseconds() },
	"serverselectiontimeoutms": func(u understood) any { return u.cfg.ServerSelectionTimeout.Milliseconds() },
	"timeoutms":                func(u understood) any { return milliseconds(u.o.Timeout) },
	"zlibcompressionlevel":     func(u understood) any { return valueOr(u.cfg.ZlibLevel, 99) },
	"tls":                      func(u understood) any { return u.cfg.TLS != nil },
	"tlsallowinvalidcertificates": func(u understood) any {
		return u.cfg.Leniency.Chain
	},
	"tlsallowinvalidhostnames":             func(u understood) any { return u.cfg.Leniency.Host },
	"tlscafile":                            func(u understood) any { return fileOf(u.cfg.TLS.RootCAs != nil, "ca.pem") },
	"tlscertificatekeyfile":                func(u understood) any { return fileOf(len(u.cfg.TLS.Certificates) == 1, "cert.pem") },
	"tlscertificatekeyfilepassword":        func(u understood) any { return tlsGiven(u.o.GetURI())["tlsCertificateKeyFilePassword"] },
	"tlsdisablecertificaterevocationcheck": func(u understood) any { return *u.o.DisableCertificateRevocationCheck },
	"tlsdisableocspendpointcheck":          func(u understood) any { return *u.o.DisableOCSPEndpointCheck },
	"tlsinsecure":                          func(u understood) any { return tlsGiven(u.o.GetURI())["tlsInsecure"] == "true" },
	"w":                                    func(u understood) any { return u.o.WriteConcern.W },
}

// fileOf returns the name of a file that was read.
func fileOf(read bool, name string) string {
	if !read {
		return "nothing"
	}
	return name
}

// writeTLSFiles writes the files that the suite names, in a folder that becomes the current one.
func writeTLSFiles(t *testing.T) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	both := append(slices.Clone(certificate), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...)
	t.Chdir(t.TempDir())
	for name, content := range map[string][]byte{"ca.pem": certificate, "cert.pem": both} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The published suites connection-string, uri-options and auth (its connection strings).
func TestThePublishedConnectionStrings(t *testing.T) {
	root := spectest.Folder(t)
	root, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	writeTLSFiles(t)
	met, listed := make(map[string]bool), listedURICases()
	for _, suite := range []struct {
		name, pattern string
	}{
		{"connection-string", "connection-string/tests/*.json"},
		{"uri-options", "uri-options/tests/*.json"},
		{"auth", "auth/tests/legacy/connection-string.json"},
	} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(suite.pattern)))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", suite.name, len(files), err)
		}
		passed, expected, skipped := 0, 0, 0
		for _, file := range files {
			var content struct{ Tests []uriCase }
			spectest.Load(t, file, &content)
			for _, c := range content.Tests {
				name := strings.TrimSuffix(filepath.Base(file), ".json") + ": " + c.Description
				if suite.name == "auth" {
					name = "auth: " + c.Description
				}
				if strings.HasPrefix(c.URI, "mongodb+srv://") {
					skipped++
					continue
				}
				want, isListed := listed[name]
				met[name] = true
				verdict := c.verdict()
				switch {
				case isListed && verdict == "":
					t.Errorf("%s passes, but is listed", name)
				case isListed && !want.MatchString(verdict):
					t.Errorf("%s: %s, want %q", name, verdict, want)
				case isListed:
					expected++
				case verdict != "":
					t.Errorf("%s: %s: %s", name, c.URI, verdict)
				default:
					passed++
				}
			}
		}
		t.Logf("%s: %d passed, %d listed with a reason, %d with SRV records not run: they need a resolver", suite.name, passed, expected, skipped)
	}
	for _, l := range listedURIs {
		t.Logf("%d listed: %s", len(l.cases), l.why)
	}
	for name := range listed {
		if !met[name] {
			t.Errorf("there is no case %q", name)
		}
	}
}

// verdict returns how the case fails, empty if it passes.
func (c *uriCase) verdict() string {
	u, err := understand(c.URI)
	switch {
	case !c.Valid && err == nil:
		return "it is accepted"
	case !c.Valid:
		return ""
	case err != nil:
		return strings.Join(append([]string{err.Error()}, c.wrongCredential(u)...), "; ")
	}
	return strings.Join(c.wrong(u), "; ")
}
