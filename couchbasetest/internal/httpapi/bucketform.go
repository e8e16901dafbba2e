package httpapi

import (
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"
)

const (
	megabyte       = 1 << 20
	minHistorySize = 2 << 30 // bytes, if not 0
	maxTTL         = math.MaxInt32
)

// wrongValue is the text for a field that is wrong.
type wrongValue string

func (w wrongValue) Error() string { return string(w) }

var bucketName = regexp.MustCompile(`^[A-Za-z0-9_.%-]{1,100}$`)

const (
	errBucketName = wrongValue("Bucket name can only contain characters in range A-Z, a-z, 0-9 as well as underscore, period, dash & percent. " +
		"Consult the documentation.")
	errNoQuota   = "The RAM Quota must be specified and must be a positive integer."
	errOnlyMagma = wrongValue("History retention can only be used with storageBackend magma")
)

// newBucket reads the form of a new bucket. It returns a text for each field that is wrong.
func newBucket(form url.Values, id Identity) (b Bucket, wrong map[string]string) {
	wrong = map[string]string{}
	b = UsualBucket(id.Release, kindOf(form, wrong), storageOf(form, wrong))
	b.Name, b.Replicas = form.Get("name"), 1
	switch {
	case b.Name == "":
		wrong["name"] = "Bucket name needs to be specified"
	case !bucketName.MatchString(b.Name):
		wrong["name"] = string(errBucketName)
	case b.Name[0] == '.':
		wrong["name"] = "Bucket name cannot start with dot."
	}
	if !form.Has("ramQuota") && !form.Has("ramQuotaMB") {
		wrong["ramQuota"] = errNoQuota
	}
	readSettings(&b, form, fixedSettings, wrong)
	readQuota(&b, form, wrong)
	readSettings(&b, form, bucketSettings, wrong)
	if b.ConflictResolution == "custom" && !id.DeveloperPreview {
		wrong["conflictResolutionType"] = "Conflict resolution type 'custom' is supported only with developer preview enabled"
	}
	return b, wrong
}

// kindOf returns the kind of a new bucket.
func kindOf(form url.Values, wrong map[string]string) string {
	switch form.Get("bucketType") {
	case "", "membase", "couchbase":
	case "ephemeral":
		return "ephemeral"
	case "memcached":
		wrong["bucketType"] = "memcached buckets are no longer supported"
	default:
		wrong["bucketType"] = "invalid bucket type"
	}
	return "membase"
}

// storageOf returns how a new bucket is to be kept, "" if the form does not say it. Of an ephemeral bucket the server does not look at it.
func storageOf(form url.Values, wrong map[string]string) (storage string) {
	if form.Has("storageBackend") && form.Get("bucketType") != "ephemeral" {
		if err := oneOf(&storage, form.Get("storageBackend"), "couchstore", "magma"); err != nil {
			wrong["storageBackend"] = err.Error()
		}
	}
	return storage
}

// changeBucket changes the settings of a bucket to those in a form. It returns a text for each field that is wrong.
func changeBucket(b *Bucket, form url.Values) (wrong map[string]string) {
	wrong = map[string]string{}
	for name, now := range map[string]string{
		"name": b.Name, "storageBackend": b.Storage, "conflictResolutionType": b.ConflictResolution, "numVBuckets": strconv.Itoa(b.VBuckets),
	} {
		if given := form.Get(name); given != "" && given != now {
			wrong[name] = name + " cannot be changed"
		}
	}
	readQuota(b, form, wrong)
	readSettings(b, form, bucketSettings, wrong)
	return wrong
}

// setting reads one field of a form into a bucket.
type setting struct {
	name string
	read func(b *Bucket, value string) error
}

// readQuota reads the memory of a bucket in MiB. The field has two names: ramQuotaMB is the old one.
func readQuota(b *Bucket, form url.Values, wrong map[string]string) {
	value := form.Get("ramQuotaMB")
	switch {
	case form.Has("ramQuota"):
		value = form.Get("ramQuota")
	case !form.Has("ramQuotaMB"):
		return
	}
	switch n, err := number(value, 0, math.MaxInt64/megabyte); {
	case err != nil:
		wrong["ramQuota"] = errNoQuota
	case n < 100:
		wrong["ramQuota"] = "RAM quota cannot be less than 100 MiB"
	default:
		b.RAMQuota = n * megabyte
	}
}

func readSettings(b *Bucket, form url.Values, settings []setting, wrong map[string]string) {
	for _, s := range settings {
		if !form.Has(s.name) {
			continue
		}
		if err := s.read(b, form.Get(s.name)); err != nil {
			wrong[s.name] = err.Error()
		}
	}
}

// fixedSettings are settings that stay what they were when the bucket was made.
var fixedSettings = []setting{
	{"numVBuckets", func(b *Bucket, value string) error {
		n, err := number(value, 1, 1024)
		if err != nil || n != 1024 && (n != 128 || b.Storage != "magma") {
			return wrongValue("numVBuckets must be 1024, or 128 with storageBackend magma")
		}
		b.VBuckets = int(n)
		return nil
	}},
	{"conflictResolutionType", func(b *Bucket, value string) error {
		return oneOf(&b.ConflictResolution, value, "seqno", "lww", "custom")
	}},
}

// bucketSettings are settings that can change.
var bucketSettings = []setting{
	{"replicaNumber", func(b *Bucket, value string) error { return whole(&b.Replicas, value, 0, 3) }},
	{"replicaIndex", func(b *Bucket, value string) error { return switched(&b.ReplicaIndex, value, "1", "0") }},
	{"flushEnabled", func(b *Bucket, value string) error { return switched(&b.FlushEnabled, value, "1", "0") }},
	{"evictionPolicy", func(b *Bucket, value string) error {
		if b.Type == "ephemeral" {
			return oneOf(&b.Eviction, value, "noEviction", "nruEviction")
		}
		return oneOf(&b.Eviction, value, "valueOnly", "fullEviction")
	}},
	{"compressionMode", func(b *Bucket, value string) error { return oneOf(&b.Compression, value, "off", "passive", "active") }},
	{"durabilityMinLevel", func(b *Bucket, value string) error {
		if b.Type == "ephemeral" {
			return oneOf(&b.MinimumDurability, value, "none", "majority")
		}
		return oneOf(&b.MinimumDurability, value, "none", "majority", "majorityAndPersistActive", "persistToMajority")
	}},
	{"maxTTL", func(b *Bucket, value string) error { return seconds(&b.MaxExpiry, value) }},
	{"historyRetentionCollectionDefault", func(b *Bucket, value string) error {
		if b.Storage != "magma" {
			return errOnlyMagma
		}
		return switched(&b.HistoryDefault, value, "true", "false")
	}},
	{"historyRetentionSeconds", func(b *Bucket, value string) error {
		if b.Storage != "magma" {
			return errOnlyMagma
		}
		return seconds(&b.HistoryTime, value)
	}},
	{"historyRetentionBytes", func(b *Bucket, value string) error {
		n, err := strconv.ParseUint(value, 10, 64)
		switch {
		case b.Storage != "magma":
			return errOnlyMagma
		case err != nil || n != 0 && n < minHistorySize:
			return wrongValue("The value must be 0 or at least 2147483648 bytes")
		}
		b.HistoryBytes = n
		return nil
	}},
}

func oneOf(setting *string, value string, permitted ...string) error {
	if !slices.Contains(permitted, value) {
		text := "the value must be one of"
		for _, p := range permitted {
			text += " '" + p + "'"
		}
		return wrongValue(text)
	}
	*setting = value
	return nil
}

func switched(setting *bool, value, on, off string) error {
	if value != on && value != off {
		return wrongValue("the value can only be " + on + " or " + off)
	}
	*setting = value == on
	return nil
}

func whole(setting *int, value string, low, high int64) error {
	n, err := number(value, low, high)
	if err == nil {
		*setting = int(n)
	}
	return err
}

func seconds(setting *time.Duration, value string) error {
	n, err := number(value, 0, maxTTL)
	if err == nil {
		*setting = time.Duration(n) * time.Second
	}
	return err
}
