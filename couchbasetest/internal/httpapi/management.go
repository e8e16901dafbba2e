package httpapi

import (
	"net/http"
)

const (
	bucketsPath     = "/pools/default/buckets"
	bucketPath      = bucketsPath + "/{bucket}"
	scopesPath      = bucketPath + "/scopes"
	collectionsPath = scopesPath + "/{scope}/collections"
)

func managementRoutes() *http.ServeMux {
	return routes(map[string]func(*exchange){
		"/":                   notServed,
		"GET /{$}":            userInterface,
		"GET /pools":          pools,
		"GET /pools/default":  poolsDefault,
		"POST /pools/default": changeCluster,
		"GET /pools/nodes":    poolsDefault,
		"GET /nodes/self":     nodeSelf,
		"GET /versions":       pools,
		"GET /whoami":         whoami,

		"GET /pools/default/b/{bucket}":                terseMap,
		"GET /pools/default/bs/{bucket}":               terseMapStream,
		"GET /pools/default/bucketsStreaming/{bucket}": bucketStream,
		"GET /poolsStreaming/default":                  poolStream,
		"GET /pools/default/nodeServices":              nodeServices,
		"GET /pools/default/nodeServicesStreaming":     nodeServicesStream,

		"GET " + bucketsPath:                          listBuckets,
		"POST " + bucketsPath:                         createBucket,
		"GET " + bucketPath:                           getBucket,
		"POST " + bucketPath:                          updateBucket,
		"PUT " + bucketPath:                           updateBucket,
		"DELETE " + bucketPath:                        dropBucket,
		"POST " + bucketPath + "/controller/doFlush":  flushBucket,
		"GET " + bucketPath + "/ddocs":                listDesigns,
		"GET " + scopesPath:                           listScopes,
		"POST " + scopesPath:                          createScope,
		"DELETE " + scopesPath + "/{scope}":           dropScope,
		"POST " + collectionsPath:                     createCollection,
		"PATCH " + collectionsPath + "/{collection}":  updateCollection,
		"DELETE " + collectionsPath + "/{collection}": dropCollection,

		"GET /settings/rbac/users":                 listUsers,
		"GET /settings/rbac/users/{domain}":        listUsers,
		"GET /settings/rbac/users/{domain}/{user}": getUser,
		"GET /settings/rbac/roles":                 listRoles,
		"GET /settings/rbac/groups":                listGroups,
		"GET /settings/rbac/groups/{group}":        getGroup,
		"/settings/rbac/":                          usersUnwritten,
		"/controller/changePassword":               usersUnwritten,
	})
}

// userInterface sends browsers to the pages of the user interface, which are not here.
func userInterface(x *exchange) {
	x.Header().Set("Location", "/ui/index.html")
	x.bytes(http.StatusMovedPermanently, "text/plain", nil)
}

// changeCluster changes settings of the cluster; its name is the one that there is.
func changeCluster(x *exchange) {
	form, ok := x.form()
	if !ok {
		return
	}
	if form.Has("clusterName") {
		x.s.cluster.Rename(form.Get("clusterName"))
	}
	x.bytes(http.StatusOK, "text/plain", nil)
}

// missing answers a request for a bucket that is not there.
func (x *exchange) missing() { x.text(http.StatusNotFound, "Requested resource not found.\r\n") }

// invalid answers a request with wrong values, with a text for each field.
func (x *exchange) invalid(status int, errors map[string]string) {
	x.json(status, map[string]any{"errors": errors})
}
