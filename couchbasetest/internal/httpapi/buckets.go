package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// bucket returns the bucket of a request. It answers if there is no such bucket.
func (x *exchange) bucket() (Bucket, bool) {
	for _, b := range x.s.cluster.Buckets() {
		if b.Name == x.r.PathValue("bucket") {
			return b, true
		}
	}
	x.missing()
	return Bucket{}, false
}

// form returns the form in the body of a request. It answers if the body is not one.
func (x *exchange) form() (url.Values, bool) {
	form, err := url.ParseQuery(string(x.req.Body))
	if err != nil {
		x.invalid(http.StatusBadRequest, map[string]string{"_": "The body is not a form: " + err.Error()})
		return nil, false
	}
	return form, true
}

func listBuckets(x *exchange) {
	all := []any{}
	for _, b := range x.s.cluster.Buckets() {
		all = append(all, x.bucketFields(&b))
	}
	x.json(http.StatusOK, all)
}

func getBucket(x *exchange) {
	if b, ok := x.bucket(); ok {
		x.json(http.StatusOK, x.bucketFields(&b))
	}
}

func createBucket(x *exchange) {
	form, ok := x.form()
	if !ok {
		return
	}
	for _, b := range x.s.cluster.Buckets() {
		if b.Name == form.Get("name") {
			x.invalid(http.StatusBadRequest, map[string]string{"name": "Bucket with given name already exists"})
			return
		}
	}
	b, wrong := newBucket(form, x.s.cluster.Identity())
	switch {
	case len(wrong) > 0:
		x.invalid(http.StatusBadRequest, wrong)
	case form.Get("just_validate") == "1" || x.r.URL.Query().Get("just_validate") == "1":
		x.invalid(http.StatusOK, map[string]string{})
	default:
		x.changed(x.s.cluster.CreateBucket(b), http.StatusAccepted)
	}
}

func updateBucket(x *exchange) {
	b, ok := x.bucket()
	if !ok {
		return
	}
	form, ok := x.form()
	if !ok {
		return
	}
	if wrong := changeBucket(&b, form); len(wrong) > 0 {
		x.invalid(http.StatusBadRequest, wrong)
		return
	}
	x.changed(x.s.cluster.UpdateBucket(b), http.StatusOK)
}

func dropBucket(x *exchange) {
	x.changed(x.s.cluster.DropBucket(x.r.PathValue("bucket")), http.StatusOK)
}

func flushBucket(x *exchange) {
	b, ok := x.bucket()
	switch {
	case !ok:
	case !b.FlushEnabled:
		x.json(http.StatusBadRequest, map[string]string{"_": "Flush is disabled for the bucket"})
	default:
		x.changed(x.s.cluster.FlushBucket(b.Name), http.StatusOK)
	}
}

// changed answers a request that has changed a bucket.
func (x *exchange) changed(err error, status int) {
	switch {
	case err == nil:
		x.bytes(status, "application/json", nil)
	case errors.Is(err, ErrBucketNotFound):
		x.missing()
	case errors.Is(err, ErrBucketExists):
		x.invalid(http.StatusBadRequest, map[string]string{"name": "Bucket with given name already exists"})
	default:
		x.invalid(http.StatusBadRequest, map[string]string{"_": err.Error()})
	}
}

// bucketFields describes a bucket.
func (x *exchange) bucketFields(b *Bucket) map[string]any {
	uri := bucketsPath + "/" + url.PathEscape(b.Name)
	controllers := map[string]string{}
	if b.FlushEnabled {
		controllers["flush"] = uri + "/controller/doFlush"
	}
	nodes := x.nodes()
	fields := map[string]any{
		"name": b.Name, "uuid": b.UUID, "bucketType": b.Type, "nodeLocator": "vbucket", "numVBuckets": b.VBuckets, "authType": "sasl",
		"uri": uri + "?bucket_uuid=" + b.UUID, "streamingUri": "/pools/default/bucketsStreaming/" + url.PathEscape(b.Name) + "?bucket_uuid=" + b.UUID,
		"controllers": controllers, "nodes": nodes, "replicaNumber": b.Replicas, "threadsNumber": 3, "autoCompactionSettings": false,
		"quota":          map[string]int64{"ram": b.RAMQuota * int64(max(len(nodes), 1)), "rawRAM": b.RAMQuota},
		"basicStats":     map[string]any{"itemCount": b.Documents, "memUsed": b.Memory, "quotaPercentUsed": 0, "opsPerSec": 0},
		"ddocs":          map[string]string{"uri": uri + "/ddocs"},
		"evictionPolicy": b.Eviction, "compressionMode": b.Compression, "durabilityMinLevel": b.MinimumDurability,
		"maxTTL": int64(b.MaxExpiry / time.Second), "conflictResolutionType": b.ConflictResolution,
	}
	if b.Type == "membase" {
		fields["storageBackend"] = b.Storage
	}
	if b.Storage == "couchstore" { // others have no views
		fields["replicaIndex"] = b.ReplicaIndex
	}
	if b.Storage == "magma" {
		fields["historyRetentionCollectionDefault"] = b.HistoryDefault
		fields["historyRetentionSeconds"] = int64(b.HistoryTime / time.Second)
		fields["historyRetentionBytes"] = b.HistoryBytes
	}
	x.addMapFields(fields, b.Name)
	return fields
}

// addMapFields adds to the description of a bucket what stands in its map.
func (x *exchange) addMapFields(fields map[string]any, bucket string) {
	if manifest, err := x.s.cluster.Manifest(bucket); err == nil {
		fields["collectionsManifestUid"] = strconv.FormatUint(manifest.UID, 16)
	}
	text, _, err := x.s.cluster.Map(x.node, bucket)
	if err != nil {
		return // dropped just now
	}
	var inMap map[string]json.RawMessage
	if json.Unmarshal(text, &inMap) != nil {
		return
	}
	for _, name := range []string{"bucketCapabilitiesVer", "bucketCapabilities", "vBucketServerMap"} {
		if value, ok := inMap[name]; ok {
			fields[name] = value
		}
	}
}

// number reads a whole number of a form.
func number(value string, low, high int64) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("the value must be in range from %d to %d (inclusive)", low, high)
	}
	return n, nil
}
