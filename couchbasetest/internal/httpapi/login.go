package httpapi

import (
	"net/http"
	"strings"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

// openPaths need no credential.
var openPaths = map[clustermap.Service][]string{
	clustermap.Management: {"/", "/pools", "/versions", "/whoami"},
	clustermap.Query:      {"/admin/ping"},
	clustermap.Analytics:  {"/admin/ping"},
	clustermap.Search:     {"/api/ping"},
	clustermap.Views:      {"/"},
}

// login checks the credential of a request. It reports false if the request was refused.
func (x *exchange) login(r *http.Request) bool {
	c, given := credential(r)
	if given {
		user, ok := x.s.cluster.Login(c)
		if x.user = user; ok {
			return true
		}
	} else {
		for _, path := range openPaths[x.req.Service] {
			if x.req.Path == path {
				return true
			}
		}
	}
	x.refuse()
	return false
}

// credential returns the credential of a request. It reports false if there is none. A certificate counts more than what else is
// there: SDKs that have one send an empty name and password besides.
func credential(r *http.Request) (Credential, bool) {
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		return Credential{Certificate: r.TLS.PeerCertificates[0]}, true
	}
	if user, password, ok := r.BasicAuth(); ok {
		return Credential{User: user, Password: password}, true
	}
	header := r.Header.Get("Authorization")
	if scheme, token, _ := strings.Cut(header, " "); strings.EqualFold(scheme, "Bearer") {
		return Credential{Token: strings.TrimSpace(token), Secure: r.TLS != nil}, true
	}
	if header != "" {
		return Credential{}, true // nobody's
	}
	return Credential{}, false
}

// refuse answers a request without a right credential, as each service does.
func (x *exchange) refuse() {
	x.Header().Set("WWW-Authenticate", `Basic realm="Couchbase Server Admin / REST"`)
	switch x.req.Service {
	case clustermap.Query:
		x.problem(Problem{Code: 13014, Message: "User does not have credentials to run this statement."})
	case clustermap.Analytics:
		x.problem(Problem{Code: 20000, Message: "Unauthorized user."})
	case clustermap.Search:
		x.searchError(http.StatusUnauthorized, "rest_auth: the user is not authorized")
	case clustermap.Views:
		x.json(http.StatusUnauthorized, viewError{"unauthorized", "the user is not authorized"})
	case clustermap.Management, clustermap.KeyValue:
		x.bytes(http.StatusUnauthorized, "text/plain", nil)
	}
}
