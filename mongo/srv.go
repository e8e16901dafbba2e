package mongo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
)

const (
	srvScheme            = "mongodb+srv://"
	defaultService       = "mongodb"
	defaultLookupTimeout = 30 * time.Second
	maxServiceName       = 62 // characters: 63 with the underscore before them
)

// srvURI is a mongodb+srv connection string.
type srvURI struct {
	userinfo string // with the @ after it, or ""
	host     string
	path     string
	pairs    []string // "name=value", without those that are about SRV records
	query    bool     // there is a question mark

	names                 map[string]bool // of all options, in lower case
	maxHosts, serviceName string          // srvMaxHosts and srvServiceName as they are written
}

// parseSRV splits a mongodb+srv connection string, or returns false for any other text. It finds no errors: the official parser
// does that, in [srvURI.options].
func parseSRV(uri string) (*srvURI, bool) {
	text, ok := strings.CutPrefix(uri, srvScheme)
	if !ok {
		return nil, false
	}
	u := &srvURI{names: make(map[string]bool)}
	if at := strings.Index(text, "@"); at >= 0 {
		u.userinfo, text = text[:at+1], text[at+1:]
	}
	end := strings.IndexAny(text, "/?@")
	if end < 0 {
		end = len(text)
	}
	u.host, text = text[:end], text[end:]
	u.path, text, u.query = strings.Cut(text, "?")
	for pair := range strings.FieldsFuncSeq(text, isOptionSeparator) {
		u.addOption(pair)
	}
	return u, true
}

func (u *srvURI) addOption(pair string) {
	name, value, _ := strings.Cut(pair, "=")
	name = optionName(name)
	u.names[name] = true
	switch name {
	case "srvmaxhosts":
		u.maxHosts = value
	case "srvservicename":
		u.serviceName = value
	default:
		u.pairs = append(u.pairs, pair)
	}
}

// optionName returns the name of an option of a connection string in lower case.
func optionName(name string) string {
	if decoded, err := url.QueryUnescape(name); err == nil {
		name = decoded
	}
	return strings.ToLower(name)
}

// records returns the names of the SRV records. The given options take precedence over the connection string.
func (u *srvURI) records(given *options.ClientOptions) (*srvRecords, error) {
	r := &srvRecords{host: u.host, service: u.serviceName}
	if u.names["srvmaxhosts"] {
		n, err := strconv.Atoi(u.maxHosts)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("mongo: the connection string's option \"srvMaxHosts\" is %q; it must be a number, 0 or more", u.maxHosts)
		}
		r.maxHosts = n
	}
	if given.SRVMaxHosts != nil {
		r.maxHosts = *given.SRVMaxHosts
	}
	if given.SRVServiceName != nil {
		r.service = *given.SRVServiceName
	}
	return r, r.check()
}

// options returns the given options with those of the connection string and, before these, those of the TXT record. TLS is the
// default. The host is a placeholder: the caller sets Hosts.
func (u *srvURI) options(given *options.ClientOptions, r *srvRecords, txt []string) *options.ClientOptions {
	all := slices.Concat(txt, u.pairs)
	if !u.names["tls"] && !u.names["ssl"] {
		all = append(all, "tls=true")
	}
	path := u.path
	if path == "" && !u.query {
		path = "/"
	}
	uri := "mongodb://" + u.userinfo + "localhost" + path + "?" + strings.Join(all, "&")
	o := options.MergeClientOptions(options.Client().ApplyURI(uri), given)
	o.SRVMaxHosts, o.SRVServiceName = &r.maxHosts, &r.service
	return o
}

// srvRecords are the SRV records that name the hosts of a deployment: Initial DNS Seedlist Discovery.
type srvRecords struct {
	host     string
	service  string
	maxHosts int // 0: no limit
}

// srvOf returns the SRV records of the connection string that the official parser has resolved, nil for a list of hosts.
func srvOf(o *options.ClientOptions) (*srvRecords, error) {
	u, isSRV := parseSRV(o.GetURI())
	if !isSRV {
		return nil, nil //nolint:nilnil // nil means that there are none
	}
	r := &srvRecords{host: u.host, service: valueOr(o.SRVServiceName, ""), maxHosts: valueOr(o.SRVMaxHosts, 0)}
	return r, r.check()
}

// checkSRVOptions returns an error if an option is about SRV records, or cannot be used with them.
func checkSRVOptions(o *options.ClientOptions, r *srvRecords) error {
	switch {
	case r == nil && valueOr(o.SRVMaxHosts, 0) != 0:
		return errors.New("mongo: SRVMaxHosts needs a mongodb+srv connection string")
	case r == nil && valueOr(o.SRVServiceName, "") != "":
		return errors.New("mongo: SRVServiceName needs a mongodb+srv connection string")
	case r != nil && valueOr(o.Direct, false):
		return errors.New("mongo: directConnection=true cannot be used with a mongodb+srv connection string")
	}
	return nil
}

// check checks what can be checked without a look-up.
func (r *srvRecords) check() error {
	if r.service == "" {
		r.service = defaultService
	}
	switch {
	case strings.Contains(r.host, ","):
		return errors.New("mongo: a mongodb+srv connection string must have one host, it has several")
	case strings.Trim(r.host, ".") == "":
		return errors.New("mongo: a mongodb+srv connection string must have a host, it has none")
	case strings.Contains(r.host, ":"):
		return errors.New("mongo: a mongodb+srv connection string must not have a port: the SRV records have the ports")
	case r.maxHosts < 0:
		return fmt.Errorf("mongo: SRVMaxHosts is %d; it must not be negative", r.maxHosts)
	case !isServiceName(r.service):
		return fmt.Errorf("mongo: SRVServiceName is %q; it must have letters, digits and single hyphens only, "+
			"at least one letter, no hyphen at an end, and at most %d characters", r.service, maxServiceName)
	}
	return nil
}

// isServiceName reports whether s is a service name of RFC 6335 section 5.1, which may here be longer than 15 characters.
func isServiceName(s string) bool {
	letters := 0
	for i, c := range []byte(s) {
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			letters++
		case '0' <= c && c <= '9':
		case c == '-' && i > 0 && i < len(s)-1 && s[i-1] != '-':
		default:
			return false
		}
	}
	return letters > 0 && len(s) <= maxServiceName
}

// hosts looks up the SRV records and returns the "host:port" of each. An error means that none may be used.
func (r *srvRecords) hosts(ctx context.Context, resolver Resolver) ([]string, error) {
	records, err := r.lookUp(ctx, resolver)
	if err != nil {
		return nil, err
	}
	var hosts []string
	for _, record := range records {
		if err := r.verify(record.Target); err != nil {
			return nil, err
		}
		hosts = append(hosts, address(record))
	}
	return hosts, nil
}

// polled is hosts for the polling of the records, which leaves out the records that are refused. An error means that
// no record is left.
func (r *srvRecords) polled(ctx context.Context, resolver Resolver) ([]string, error) {
	records, err := r.lookUp(ctx, resolver)
	if err != nil {
		return nil, err
	}
	var hosts []string
	for _, record := range records {
		if err = r.verify(record.Target); err == nil {
			hosts = append(hosts, address(record))
		}
	}
	if len(hosts) == 0 {
		return nil, err
	}
	return hosts, nil
}

func (r *srvRecords) lookUp(ctx context.Context, resolver Resolver) ([]*net.SRV, error) {
	_, records, err := resolver.LookupSRV(ctx, r.service, "tcp", r.host)
	if err != nil {
		return nil, fmt.Errorf("looking up the SRV records _%s._tcp.%s: %w", r.service, r.host, err)
	}
	if len(records) == 0 {
		return nil, fmt.Errorf("there are no SRV records _%s._tcp.%s", r.service, r.host)
	}
	return records, nil
}

// address returns the "host:port" of a record, in lower case.
func address(record *net.SRV) string {
	return net.JoinHostPort(normal(record.Target), strconv.Itoa(int(record.Port)))
}

// normal returns a DNS name without its final dot, in lower case.
func normal(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// verify returns an error if a record's target is not in the domain of the host. The domain of a host with at least three
// parts is the host without its first part; of one with fewer, the whole host.
func (r *srvRecords) verify(target string) error {
	domain := normal(r.host)
	if strings.Count(domain, ".") >= 2 {
		_, domain, _ = strings.Cut(domain, ".")
	}
	if name := normal(target); !strings.HasSuffix(name, "."+domain) || strings.HasPrefix(name, ".") {
		return fmt.Errorf("the SRV record of %s has the target %q, which is not in the domain %s", r.host, target, domain)
	}
	return nil
}

// txtOptions are the options that a TXT record may have, in lower case.
var txtOptions = supported("authsource", "replicaset", "loadbalanced")

// defaults looks up the TXT record and returns its options, without those whose names are in overridden.
func (r *srvRecords) defaults(ctx context.Context, resolver Resolver, overridden map[string]bool) ([]string, error) {
	records, err := resolver.LookupTXT(ctx, r.host)
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return nil, nil // a TXT record is optional
	case err != nil:
		return nil, fmt.Errorf("looking up the TXT record of %s: %w", r.host, err)
	case len(records) > 1:
		return nil, fmt.Errorf("%s has %d TXT records; it may have one at most", r.host, len(records))
	case len(records) == 0:
		return nil, nil
	}
	var kept []string
	for pair := range strings.FieldsFuncSeq(records[0], isOptionSeparator) {
		name, _, assigned := strings.Cut(pair, "=")
		switch lower := optionName(name); {
		case !assigned:
			return nil, fmt.Errorf("the TXT record of %s has %q; it must be a name and a value with = between them", r.host, pair)
		case !txtOptions[lower]:
			return nil, fmt.Errorf("the TXT record of %s has the option %q; it may have authSource, replicaSet and loadBalanced only", r.host, name)
		case !overridden[lower]:
			kept = append(kept, pair)
		}
	}
	return kept, nil
}

// atMost returns that many of the hosts, picked at random, or all if limit is 0 or not less than their number.
func atMost(limit int, hosts []string) []string {
	if limit == 0 || limit >= len(hosts) {
		return hosts
	}
	rand.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
	return hosts[:limit]
}

// polling returns the configuration of the polling, nil without SRV records.
func (r *srvRecords) polling(cfg Config) *cluster.SRVPolling {
	if r == nil {
		return nil
	}
	return &cluster.SRVPolling{
		MaxHosts: r.maxHosts,
		LookUp:   func(ctx context.Context) ([]string, error) { return r.polled(ctx, cfg.resolver()) },
	}
}
