package httpapi

import (
	"crypto/x509"
	"errors"
	"slices"
	"time"
)

// Cluster is what the HTTP services need of a cluster. Its methods are called by many goroutines at once. The services hold no
// lock of theirs while they call one.
type Cluster interface {
	// Identity returns the cluster's names and version.
	Identity() Identity
	// Rename changes the name of the cluster.
	Rename(name string)
	// Nodes returns the nodes that are in the cluster now, in the order of the cluster map.
	Nodes() []Node
	// Map returns the newest map that a node knows, as the JSON that the node serves: of a bucket, or of the cluster alone if
	// bucket is "". Changed is closed when the node knows a newer one, and when the bucket is dropped. The error is
	// ErrBucketNotFound if there is no such bucket.
	Map(node NodeID, bucket string) (json []byte, changed <-chan struct{}, err error)
	// Login returns the user that a credential belongs to. It reports false if the credential is wrong; the zero Credential is.
	Login(Credential) (User, bool)
	// Users returns all users, ordered by name.
	Users() []User

	// Buckets returns all buckets, ordered by name.
	Buckets() []Bucket
	// CreateBucket makes a bucket. The UUID of b is empty. The error may be ErrBucketExists.
	CreateBucket(b Bucket) error
	// UpdateBucket replaces the settings of the bucket of this name. The error may be ErrBucketNotFound.
	UpdateBucket(b Bucket) error
	// DropBucket and FlushBucket may return ErrBucketNotFound. Flush is not called for a bucket that does not permit it.
	DropBucket(bucket string) error
	FlushBucket(bucket string) error

	// Manifest returns the scopes and collections of a bucket. The error may be ErrBucketNotFound.
	Manifest(bucket string) (Manifest, error)
	// The following change the manifest and return its new UID. They check the existence of all that they name, and may
	// return ErrBucketNotFound, ErrScopeNotFound, ErrScopeExists, ErrCollectionNotFound, ErrCollectionExists and a *LimitError.
	// Names have the form that Couchbase permits.
	CreateScope(bucket, scope string) (uid uint64, err error)
	DropScope(bucket, scope string) (uid uint64, err error)
	CreateCollection(bucket, scope string, c Collection) (uid uint64, err error)
	UpdateCollection(bucket, scope string, c CollectionChange) (uid uint64, err error)
	DropCollection(bucket, scope, collection string) (uid uint64, err error)
}

// The errors of a Cluster.
var (
	ErrBucketNotFound     = errors.New("bucket not found")
	ErrBucketExists       = errors.New("bucket exists")
	ErrScopeNotFound      = errors.New("scope not found")
	ErrScopeExists        = errors.New("scope exists")
	ErrCollectionNotFound = errors.New("collection not found")
	ErrCollectionExists   = errors.New("collection exists")
)

// LimitError says that a bucket has as many scopes or collections as it may have.
type LimitError struct {
	What string // "scopes" or "collections"
}

func (e *LimitError) Error() string { return "maximum number of " + e.What + " has been reached" }

// Identity is the names and the version of a cluster.
type Identity struct {
	UUID    string
	Name    string
	Version string // of the server, for example "7.6.4-5146-enterprise"
	Release Release
	// SharedPreparedStatements is whether all nodes know a prepared statement as soon as one does: the capability
	// "enhancedPreparedStatements" of the query service.
	SharedPreparedStatements bool
	// DeveloperPreview is whether the cluster runs the developer preview.
	DeveloperPreview bool
}

// Release is the numbers of a server's version.
type Release [3]int

// AtLeast reports whether the release is a version or newer, by its first numbers.
func (r Release) AtLeast(version ...int) bool { return slices.Compare(r[:len(version)], version) >= 0 }

// NodeID names a node of a cluster for as long as the cluster lives.
type NodeID int

// Node is a node, as the management service describes it.
type Node struct {
	ID       NodeID
	UUID     string
	Hostname string // without a port
	Group    string // server group; "" is "Group 1"
	// Ports has the port of each service that the node offers, by the name that the cluster map uses ("kv", "kvSSL", "mgmt",
	// "mgmtSSL", "capi", "capiSSL", "n1ql", "n1qlSSL", "fts", "ftsSSL", "cbas", "cbasSSL").
	Ports map[string]int
	// Healthy is false for a node that the cluster sees as down.
	Healthy bool
	// Member is false for a node that was failed over and is not yet removed.
	Member bool
}

// Credential is how a request says who sends it. One of password, token and certificate is used.
type Credential struct {
	User, Password string
	Token          string            // a bearer token
	Certificate    *x509.Certificate // the client certificate of a TLS connection
	Secure         bool              // the token came on a TLS connection
}

// User is a local user.
type User struct {
	Name     string
	FullName string
	Roles    []Role
}

// Role is a role of a user. The role holds everywhere in the cluster if Bucket is "", else in a bucket ("*" is all of them),
// in one scope of it, or in one collection.
type Role struct {
	Name                      string
	Bucket, Scope, Collection string
}

// Bucket is a bucket with its settings. The text values are those of the management service.
type Bucket struct {
	Name string
	UUID string
	// Type is "membase" or "ephemeral".
	Type string
	// Storage is "couchstore", "magma" or, of an ephemeral bucket, "".
	Storage  string
	VBuckets int
	RAMQuota int64 // bytes
	Replicas int
	// ReplicaIndex is whether views index the replicas too.
	ReplicaIndex bool
	FlushEnabled bool
	// Eviction is "valueOnly", "fullEviction", "noEviction" or "nruEviction".
	Eviction string
	// Compression is "off", "passive" or "active".
	Compression string
	// MinimumDurability is "none", "majority", "majorityAndPersistActive" or "persistToMajority".
	MinimumDurability string
	MaxExpiry         time.Duration // 0: none
	// ConflictResolution is "seqno", "lww" or "custom".
	ConflictResolution string
	// HistoryDefault is whether new collections of a magma bucket keep their history.
	HistoryDefault bool
	HistoryTime    time.Duration
	HistoryBytes   uint64
	// Documents and Memory are counts of the moment; they are not settings.
	Documents int64
	Memory    int64
}

// Manifest is the scopes and collections of a bucket.
type Manifest struct {
	UID    uint64
	Scopes []Scope
}

// Scope is a scope with its collections.
type Scope struct {
	Name        string
	UID         uint64
	Collections []Collection
}

// Collection is a collection with its settings.
type Collection struct {
	Name string
	UID  uint64
	// MaxExpiry is 0 if the bucket's holds, and below 0 if documents of this collection never expire by themselves.
	MaxExpiry time.Duration
	// History is whether old versions are kept; nil is the bucket's default.
	History *bool
}

// CollectionChange is the settings of a collection that change. A setting that is nil stays.
type CollectionChange struct {
	Name      string
	MaxExpiry *time.Duration
	History   *bool
}
