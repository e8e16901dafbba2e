package couchbase

import (
	"net/url"
	"strconv"
	"time"
)

// BucketType is the kind of a bucket.
type BucketType string

// The kinds.
const (
	CouchbaseBucketType BucketType = "membase" // documents are stored on disk
	// MemcachedBucketType is a kind that the client does not support: creating a bucket of it is an error.
	MemcachedBucketType BucketType = "memcached"
	EphemeralBucketType BucketType = "ephemeral" // documents are in memory only
)

// EvictionPolicyType says what a bucket does when its memory is full.
type EvictionPolicyType string

// The policies. The first two are for Couchbase buckets, the others for ephemeral ones.
const (
	EvictionPolicyTypeFull            EvictionPolicyType = "fullEviction"
	EvictionPolicyTypeValueOnly       EvictionPolicyType = "valueOnly"
	EvictionPolicyTypeNotRecentlyUsed EvictionPolicyType = "nruEviction"
	EvictionPolicyTypeNoEviction      EvictionPolicyType = "noEviction"
)

// CompressionMode says whether a bucket compresses documents.
type CompressionMode string

// The modes.
const (
	CompressionModeOff     CompressionMode = "off"     // never
	CompressionModePassive CompressionMode = "passive" // documents that come compressed stay so
	CompressionModeActive  CompressionMode = "active"  // all documents
)

// StorageBackend is the engine that stores a bucket on disk.
type StorageBackend string

// The engines.
const (
	StorageBackendCouchstore StorageBackend = "couchstore"
	StorageBackendMagma      StorageBackend = "magma"
)

// ConflictResolutionType says which of two versions wins in a replication between clusters.
type ConflictResolutionType string

// The types.
const (
	ConflictResolutionTypeTimestamp      ConflictResolutionType = "lww"
	ConflictResolutionTypeSequenceNumber ConflictResolutionType = "seqno"
	ConflictResolutionTypeCustom         ConflictResolutionType = "custom"
)

// HistoryRetentionCollectionDefault says whether new collections of a bucket keep the history of their documents.
type HistoryRetentionCollectionDefault uint8

// The defaults.
const (
	HistoryRetentionCollectionDefaultUnset HistoryRetentionCollectionDefault = iota // the server's
	HistoryRetentionCollectionDefaultEnabled
	HistoryRetentionCollectionDefaultDisabled
)

// BucketSettings are the settings of a bucket. Zero means the server's default, unless the field says otherwise.
type BucketSettings struct {
	Name                 string
	FlushEnabled         bool
	ReplicaIndexDisabled bool
	RAMQuotaMB           uint64
	NumReplicas          uint32 // 0: no replicas
	BucketType           BucketType
	EvictionPolicy       EvictionPolicyType
	// MaxTTL is the longest time that a document lives; 0: for ever.
	//
	// Deprecated: use MaxExpiry.
	MaxTTL                 time.Duration
	MaxExpiry              time.Duration // the longest time that a document lives; 0: for ever
	CompressionMode        CompressionMode
	MinimumDurabilityLevel DurabilityLevel
	StorageBackend         StorageBackend
	NumVBuckets            uint16 // only of a new bucket

	HistoryRetentionCollectionDefault HistoryRetentionCollectionDefault
	HistoryRetentionBytes             uint64
	HistoryRetentionDuration          time.Duration
}

// CreateBucketSettings are the settings of a new bucket.
type CreateBucketSettings struct {
	BucketSettings
	ConflictResolutionType ConflictResolutionType
}

// durabilityNames has the levels' names in the settings of buckets.
var durabilityNames = map[DurabilityLevel]string{
	DurabilityLevelNone: "none", DurabilityLevelMajority: "majority",
	DurabilityLevelMajorityAndPersistOnMaster: "majorityAndPersistActive", DurabilityLevelPersistToMajority: "persistToMajority",
}

// check returns an error about the first field that is wrong.
func (s *BucketSettings) check() error {
	switch {
	case s.Name == "":
		return invalid("Name must not be empty")
	case s.BucketType == MemcachedBucketType:
		return invalid("BucketType is memcached, which the client does not support")
	case s.MaxTTL < 0 || s.MaxExpiry < 0:
		return invalid("MaxExpiry and MaxTTL must not be negative")
	case isPartOfSecond(s.MaxTTL), isPartOfSecond(s.MaxExpiry), isPartOfSecond(s.HistoryRetentionDuration):
		return invalid("MaxExpiry, MaxTTL or HistoryRetentionDuration is less than a second; servers count in seconds, and 0 means no limit")
	case s.MaxTTL != 0 && s.MaxExpiry != 0 && s.MaxTTL != s.MaxExpiry:
		return invalid("MaxExpiry and MaxTTL are different; MaxTTL is deprecated")
	case s.HistoryRetentionDuration < 0:
		return invalid("HistoryRetentionDuration is %v; it must not be negative", s.HistoryRetentionDuration)
	case s.HistoryRetentionCollectionDefault > HistoryRetentionCollectionDefaultDisabled:
		return invalid("HistoryRetentionCollectionDefault %d does not exist", s.HistoryRetentionCollectionDefault)
	}
	if _, known := durabilityNames[s.MinimumDurabilityLevel]; !known && s.MinimumDurabilityLevel != DurabilityLevelUnknown {
		return invalid("MinimumDurabilityLevel %d does not exist", s.MinimumDurabilityLevel)
	}
	return nil
}

// isPartOfSecond reports whether a duration would become 0 seconds.
func isPartOfSecond(d time.Duration) bool { return d > 0 && d < time.Second }

// form returns the settings that a bucket can change, as the cluster manager takes them.
func (s *BucketSettings) form() url.Values {
	form := make(url.Values)
	set := func(name, value string) {
		if value != "" && value != "0" {
			form.Set(name, value)
		}
	}
	form.Set("flushEnabled", zeroOrOne(s.FlushEnabled))
	form.Set("replicaNumber", strconv.FormatUint(uint64(s.NumReplicas), 10))
	if s.BucketType != EphemeralBucketType {
		form.Set("replicaIndex", zeroOrOne(!s.ReplicaIndexDisabled))
	}
	set("ramQuotaMB", strconv.FormatUint(s.RAMQuotaMB, 10))
	set("evictionPolicy", string(s.EvictionPolicy))
	set("maxTTL", strconv.FormatInt(int64(max(s.MaxTTL, s.MaxExpiry)/time.Second), 10))
	set("compressionMode", string(s.CompressionMode))
	set("durabilityMinLevel", durabilityNames[s.MinimumDurabilityLevel])
	set("historyRetentionBytes", strconv.FormatUint(s.HistoryRetentionBytes, 10))
	set("historyRetentionSeconds", strconv.FormatInt(int64(s.HistoryRetentionDuration/time.Second), 10))
	switch s.HistoryRetentionCollectionDefault {
	case HistoryRetentionCollectionDefaultEnabled:
		form.Set("historyRetentionCollectionDefault", "true")
	case HistoryRetentionCollectionDefaultDisabled:
		form.Set("historyRetentionCollectionDefault", "false")
	case HistoryRetentionCollectionDefaultUnset:
	}
	return form
}

// createForm returns all settings of a new bucket.
func (s *CreateBucketSettings) createForm() url.Values {
	form := s.form()
	form.Set("name", s.Name)
	kind := s.BucketType
	if kind == "" {
		kind = CouchbaseBucketType
	}
	form.Set("bucketType", string(kind))
	if s.StorageBackend != "" {
		form.Set("storageBackend", string(s.StorageBackend))
	}
	if s.NumVBuckets != 0 {
		form.Set("numVBuckets", strconv.Itoa(int(s.NumVBuckets)))
	}
	if s.ConflictResolutionType != "" {
		form.Set("conflictResolutionType", string(s.ConflictResolutionType))
	}
	return form
}

func zeroOrOne(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// bucketJSON are the settings of a bucket as the cluster manager sends them.
type bucketJSON struct {
	Name        string `json:"name"`
	Controllers struct {
		Flush string `json:"flush"`
	} `json:"controllers"`
	ReplicaIndex *bool `json:"replicaIndex"`
	Quota        struct {
		RawRAM uint64 `json:"rawRAM"`
	} `json:"quota"`
	Replicas       uint32             `json:"replicaNumber"`
	Type           BucketType         `json:"bucketType"`
	Eviction       EvictionPolicyType `json:"evictionPolicy"`
	MaxTTL         int64              `json:"maxTTL"`
	Compression    CompressionMode    `json:"compressionMode"`
	Durability     string             `json:"durabilityMinLevel"`
	Storage        StorageBackend     `json:"storageBackend"`
	VBuckets       uint16             `json:"numVBuckets"`
	HistoryDefault *bool              `json:"historyRetentionCollectionDefault"`
	HistoryBytes   uint64             `json:"historyRetentionBytes"`
	HistorySeconds int64              `json:"historyRetentionSeconds"`
}

const bytesPerMB = 1 << 20

func (j *bucketJSON) settings() BucketSettings {
	s := BucketSettings{
		Name: j.Name, FlushEnabled: j.Controllers.Flush != "", ReplicaIndexDisabled: j.ReplicaIndex != nil && !*j.ReplicaIndex,
		RAMQuotaMB: j.Quota.RawRAM / bytesPerMB, NumReplicas: j.Replicas, BucketType: j.Type, EvictionPolicy: j.Eviction,
		MaxTTL: time.Duration(j.MaxTTL) * time.Second, MaxExpiry: time.Duration(j.MaxTTL) * time.Second, CompressionMode: j.Compression,
		StorageBackend: j.Storage, NumVBuckets: j.VBuckets, HistoryRetentionBytes: j.HistoryBytes,
		HistoryRetentionDuration: time.Duration(j.HistorySeconds) * time.Second,
	}
	for level, name := range durabilityNames {
		if name == j.Durability {
			s.MinimumDurabilityLevel = level
		}
	}
	switch {
	case j.HistoryDefault == nil:
	case *j.HistoryDefault:
		s.HistoryRetentionCollectionDefault = HistoryRetentionCollectionDefaultEnabled
	default:
		s.HistoryRetentionCollectionDefault = HistoryRetentionCollectionDefaultDisabled
	}
	return s
}
