package operation_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
	"github.com/holdfast-db/holdfast/retry"
)

func TestASuccess(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		q := w.get(keyOf0)
		q.Value = []byte("echo")
		r, err := w.do(q)
		if err != nil {
			t.Fatal(err)
		}
		if string(r.Packet.Value) != "echo" || r.VBucket != 0 || r.Conn.Address() != "a:11210" {
			t.Errorf("the result is %+v", r)
		}
		equal(t, "requests", w.requests(), []string{"0s a " + memd.OpGet.String()})
		if log := w.Log(); string(log[0].Request.Key) != "\x00"+string(keyOf0) {
			t.Errorf("the key is %q", log[0].Request.Key)
		}
	})
}

// every10 is a strategy that retries after 10 ms.
func every10() retry.Strategy {
	return retry.StrategyFunc(func(context.Context, retry.OperationState, retry.Failure) (retry.Action, error) {
		return retry.After(10 * ms), nil
	})
}

func strategy(s retry.Strategy) setup {
	return func(_ *world, _ *cluster.Config, o *operation.Config) { o.Strategy = s }
}

// Every status that the client judges itself, as the answer to a command that is not idempotent: the kind of error, or the reason of the retry.
func TestTheStatusTable(t *testing.T) {
	tested := make(map[memd.Status]bool)
	for _, c := range []struct {
		name   string
		status memd.Status
		opcode memd.Opcode
		cas    uint64
		kind   error
		reason string // "": it is not retried
	}{
		{"01 not found", memd.StatusKeyNotFound, memd.OpGet, 0, operation.ErrDocumentNotFound, ""},
		{"02 of an insert", memd.StatusKeyExists, memd.OpAdd, 0, operation.ErrDocumentExists, ""},
		{"02 of a replace", memd.StatusKeyExists, memd.OpReplace, 7, operation.ErrCasMismatch, ""},
		{"02 of an append", memd.StatusKeyExists, memd.OpAppend, 0, operation.ErrCasMismatch, ""},
		{"02 of a prepend", memd.StatusKeyExists, memd.OpPrepend, 0, operation.ErrCasMismatch, ""},
		{"02 of a remove with a CAS", memd.StatusKeyExists, memd.OpDelete, 7, operation.ErrCasMismatch, ""},
		{"02 of a remove without a CAS", memd.StatusKeyExists, memd.OpDelete, 0, operation.ErrDocumentExists, ""},
		{"02 of a mutate-in with a CAS", memd.StatusKeyExists, memd.OpSubdocMultiMutation, 7, operation.ErrCasMismatch, ""},
		{"02 of a mutate-in without a CAS", memd.StatusKeyExists, memd.OpSubdocMultiMutation, 0, operation.ErrDocumentExists, ""},
		{"03 too big", memd.StatusTooBig, memd.OpSet, 0, operation.ErrValueTooLarge, ""},
		{"04 invalid", memd.StatusInvalidArguments, memd.OpSet, 0, operation.ErrInvalidArgument, ""},
		{"05 of an insert", memd.StatusNotStored, memd.OpAdd, 0, operation.ErrDocumentExists, ""},
		{"05 of an append", memd.StatusNotStored, memd.OpAppend, 0, operation.ErrDocumentNotStored, ""},
		{"06 bad delta", memd.StatusBadDelta, memd.OpIncrement, 0, operation.ErrDeltaInvalid, ""},
		{"07 not my vbucket", memd.StatusNotMyVBucket, memd.OpSet, 0, operation.ErrNotMyVBucket, "KV_NOT_MY_VBUCKET"},
		{"08 no bucket: the connection is made anew", memd.StatusNoBucket, memd.OpSet, 0, operation.ErrSocketNotAvailable, "SOCKET_NOT_AVAILABLE"},
		{"09 locked", memd.StatusLocked, memd.OpSet, 0, operation.ErrDocumentLocked, "KV_LOCKED"},
		{"09 of an unlock is a wrong CAS", memd.StatusLocked, memd.OpUnlock, 7, operation.ErrCasMismatch, ""},
		{"0d config only", memd.StatusConfigOnly, memd.OpSet, 0, operation.ErrConfigOnly, "KV_CONFIG_ONLY"},
		{"0e not locked", memd.StatusNotLocked, memd.OpUnlock, 7, operation.ErrDocumentNotLocked, ""},
		{"1f authentication stale", memd.StatusAuthStale, memd.OpSet, 0, operation.ErrAuthenticationFailure, ""},
		{"20 authentication error", memd.StatusAuthError, memd.OpSet, 0, operation.ErrAuthenticationFailure, ""},
		{"24 no access", memd.StatusAccess, memd.OpSet, 0, operation.ErrAuthenticationFailure, ""},
		{"25 by the error map, which has no retry attribute", memd.StatusNotInitialized, memd.OpSet, 0, operation.ErrTemporaryFailure, ""},
		{"30 rate limit", memd.StatusRateLimitIngress, memd.OpSet, 0, operation.ErrRateLimitedFailure, ""},
		{"31 rate limit", memd.StatusRateLimitEgress, memd.OpSet, 0, operation.ErrRateLimitedFailure, ""},
		{"32 rate limit", memd.StatusRateLimitConnections, memd.OpSet, 0, operation.ErrRateLimitedFailure, ""},
		{"33 rate limit", memd.StatusRateLimitCommands, memd.OpSet, 0, operation.ErrRateLimitedFailure, ""},
		{"34 scope size", memd.StatusScopeSizeLimit, memd.OpSet, 0, operation.ErrQuotaLimitedFailure, ""},
		{"35 bucket size", memd.StatusBucketSizeLimit, memd.OpSet, 0, operation.ErrQuotaLimitedFailure, ""},
		{"36 resident ratio", memd.StatusResidentRatioLimit, memd.OpSet, 0, operation.ErrQuotaLimitedFailure, ""},
		{"37 data size", memd.StatusDataSizeLimit, memd.OpSet, 0, operation.ErrQuotaLimitedFailure, ""},
		{"38 disk space", memd.StatusDiskSpaceLimit, memd.OpSet, 0, operation.ErrQuotaLimitedFailure, ""},
		{"80 frame unknown", memd.StatusUnknownFrame, memd.OpSet, 0, operation.ErrUnsupportedOperation, ""},
		{"81 unknown command", memd.StatusUnknownCommand, memd.OpSet, 0, operation.ErrUnsupportedOperation, ""},
		{"82 by the error map", memd.StatusOutOfMemory, memd.OpSet, 0, operation.ErrTemporaryFailure, "KV_ERROR_MAP_RETRY_INDICATED"},
		{"83 not supported", memd.StatusNotSupported, memd.OpSet, 0, operation.ErrUnsupportedOperation, ""},
		{"84 internal", memd.StatusInternal, memd.OpSet, 0, operation.ErrInternalServerFailure, ""},
		{"85 by the error map", memd.StatusBusy, memd.OpSet, 0, operation.ErrTemporaryFailure, "KV_ERROR_MAP_RETRY_INDICATED"},
		{"86 temporary failure", memd.StatusTemporaryFailure, memd.OpSet, 0, operation.ErrTemporaryFailure, "KV_TEMPORARY_FAILURE"},
		{"88 collection unknown", memd.StatusUnknownCollection, memd.OpSet, 0, operation.ErrCollectionNotFound, "KV_COLLECTION_OUTDATED"},
		{"8c scope unknown", memd.StatusUnknownScope, memd.OpSet, 0, operation.ErrScopeNotFound, "KV_COLLECTION_OUTDATED"},
		{"88 of a look-up of an id", memd.StatusUnknownCollection, memd.OpCollectionID, 0, operation.ErrCollectionNotFound, ""},
		{"8c of a look-up of an id", memd.StatusUnknownScope, memd.OpCollectionID, 0, operation.ErrScopeNotFound, ""},
		{"88 of a look-up of a scope", memd.StatusUnknownCollection, memd.OpScopeID, 0, operation.ErrCollectionNotFound, ""},
		{"8c of a look-up of a scope", memd.StatusUnknownScope, memd.OpScopeID, 0, operation.ErrScopeNotFound, ""},
		{"a0 level invalid", memd.StatusDurabilityInvalid, memd.OpSet, 0, operation.ErrDurabilityLevelNotAvailable, ""},
		{"a1 durability impossible", memd.StatusDurabilityImpossible, memd.OpSet, 0, operation.ErrDurabilityImpossible, ""},
		{"a2 sync write in progress", memd.StatusSyncWriteInProgress, memd.OpSet, 0, operation.ErrDurableWriteInProgress, "KV_SYNC_WRITE_IN_PROGRESS"},
		{"a3 sync write ambiguous", memd.StatusSyncWriteAmbiguous, memd.OpSet, 0, operation.ErrDurabilityAmbiguous, ""},
		{"a4 recommit in progress", memd.StatusSyncWriteReCommit, memd.OpSet, 0, operation.ErrDurableWriteReCommitInProgress, "KV_SYNC_WRITE_RE_COMMIT_IN_PROGRESS"},
		{"c0 path not found", memd.StatusPathNotFound, memd.OpSubdocGet, 0, operation.ErrPathNotFound, ""},
		{"c1 path mismatch", memd.StatusPathMismatch, memd.OpSubdocGet, 0, operation.ErrPathMismatch, ""},
		{"c2 path invalid", memd.StatusPathInvalid, memd.OpSubdocGet, 0, operation.ErrPathInvalid, ""},
		{"c3 path too big", memd.StatusPathTooBig, memd.OpSubdocGet, 0, operation.ErrPathTooBig, ""},
		{"c4 document too deep", memd.StatusDocumentTooDeep, memd.OpSubdocGet, 0, operation.ErrDocumentTooDeep, ""},
		{"c5 cannot insert", memd.StatusCannotInsert, memd.OpSubdocMultiMutation, 0, operation.ErrValueInvalid, ""},
		{"c6 not JSON", memd.StatusNotJSON, memd.OpSubdocGet, 0, operation.ErrValueNotJSON, ""},
		{"c7 number range", memd.StatusNumberRange, memd.OpSubdocMultiMutation, 0, operation.ErrNumberTooBig, ""},
		{"c8 delta invalid", memd.StatusDeltaInvalid, memd.OpSubdocMultiMutation, 0, operation.ErrDeltaInvalid, ""},
		{"c9 path exists", memd.StatusPathExists, memd.OpSubdocMultiMutation, 0, operation.ErrPathExists, ""},
		{"ca value too deep", memd.StatusValueTooDeep, memd.OpSubdocMultiMutation, 0, operation.ErrValueTooDeep, ""},
		{"cb bad combination", memd.StatusBadCombination, memd.OpSubdocMultiMutation, 0, operation.ErrInvalidArgument, ""},
		{"cc some parts failed", memd.StatusMultiFailure, memd.OpSubdocMultiMutation, 0, operation.ErrInvalidArgument, ""},
		{"ce xattr flags", memd.StatusXattrFlagCombination, memd.OpSubdocMultiMutation, 0, operation.ErrXattrInvalidFlagCombo, ""},
		{"cf xattr keys", memd.StatusXattrKeyCombination, memd.OpSubdocMultiMutation, 0, operation.ErrXattrInvalidKeyCombo, ""},
		{"d0 unknown macro", memd.StatusXattrUnknownMacro, memd.OpSubdocMultiMutation, 0, operation.ErrXattrUnknownMacro, ""},
		{"d1 unknown virtual attribute", memd.StatusXattrUnknownVirtual, memd.OpSubdocGet, 0, operation.ErrXattrUnknownVirtualAttribute, ""},
		{"d2 a virtual attribute is changed", memd.StatusXattrCannotModify, memd.OpSubdocMultiMutation, 0, operation.ErrXattrCannotModifyVirtualAttribute, ""},
		{"d3 some parts failed, deleted", memd.StatusMultiFailureDeleted, memd.OpSubdocMultiMutation, 0, operation.ErrInvalidArgument, ""},
		{"d4 xattrs not first", memd.StatusXattrOrder, memd.OpSubdocMultiMutation, 0, operation.ErrXattrInvalidOrder, ""},
		{"d5 unknown virtual macro", memd.StatusXattrUnknownVMacro, memd.OpSubdocMultiMutation, 0, operation.ErrXattrUnknownMacro, ""},
		{"d6 already alive", memd.StatusCannotRevive, memd.OpSubdocMultiMutation, 0, operation.ErrDocumentAlreadyAlive, ""},
		{"a status of the error map with retry-later", 0xff01, memd.OpSet, 0, nil, "KV_ERROR_MAP_RETRY_INDICATED"},
		{"a status of the error map with auto-retry", 0xff07, memd.OpSet, 0, nil, "KV_ERROR_MAP_RETRY_INDICATED"},
		{"attributes of the error map that are not known are ignored", 0xff06, memd.OpSet, 0, nil, "KV_ERROR_MAP_RETRY_INDICATED"},
		{"a status of the error map without", 0xff02, memd.OpSet, 0, nil, ""},
		{"a status that nobody knows", 0xff7f, memd.OpSet, 0, nil, ""},
	} {
		tested[c.status] = true
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, status(c.status, 1), func(w *world) {
				q := &operation.Operation{Name: "op", Opcode: c.opcode, Collection: w.collection(), Key: keyOf0, CAS: c.cas}
				_, err := w.do(q)
				if c.reason != "" {
					decisions := len(w.log.all())
					if c.status == memd.StatusNoBucket {
						decisions = min(decisions, 1) // there may be another one, for the connection that is being made
					}
					if err != nil || decisions != 1 || len(w.Log()) != 2 || w.Log()[1].After == 0 {
						t.Errorf("%v, decisions %q, requests %v", err, w.log.all(), w.requests())
					}
					equal(t, "reason", w.log.all()[0][2:2+len(c.reason)], c.reason)
					return
				}
				if err == nil || c.kind != nil && !errors.Is(err, c.kind) || len(w.Log()) != 1 || err.Status != c.status || !err.HasStatus {
					t.Fatalf("%v, requests %v", err, w.requests())
				}
				ambiguous := c.status == memd.StatusSyncWriteAmbiguous || c.status == 0xff7f
				if err.Ambiguous != ambiguous || err.History.MayHaveApplied() != ambiguous {
					t.Errorf("ambiguous is %v", err.Ambiguous)
				}
				if errors.Is(err, operation.ErrTimeout) || err.Retries != 0 || len(err.Reasons) != 0 {
					t.Errorf("%+v", err)
				}
			}, strategy(every10()))
		})
	}
	for s := range operation.Statuses() {
		if !tested[s] || !s.Known() {
			t.Errorf("%v is judged by the client: it has a row here (%v) and a text in package memd (%v)", s, tested[s], s.Known())
		}
	}
}

// Some statuses say something about the connection or the map, besides the operation.
func TestWhatAStatusDoesToTheConnection(t *testing.T) {
	for _, c := range []struct {
		name           string
		status         memd.Status
		dials, fetches int
	}{
		{"1f: a new connection authenticates again", memd.StatusAuthStale, 1, 1},
		{"08: a new connection selects the bucket", memd.StatusNoBucket, 1, 1},
		{"conn-state-invalidated in the error map", 0xff03, 1, 1},
		{"special-handling in the error map, which this client does not have", 0xff05, 1, 1},
		{"fetch-config in the error map", 0xff04, 0, 1},
		{"another one", 0xff02, 0, 0},
		{"25, although the error map says that the connection is invalid: the client knows the status", memd.StatusNotInitialized, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, status(c.status, 1), func(w *world) {
				before := w.bucket.Snapshot().Endpoints[0].Conn()
				q := w.get(keyOf0)
				q.Strategy = declining()
				if _, err := w.do(q); err == nil || err.Status != c.status {
					t.Errorf("%v", err)
				}
				<-time.After(20 * ms)
				conn := w.bucket.Snapshot().Endpoints[0].Conn()
				if len(w.Dials()) != c.dials || len(w.Fetches()) != c.fetches || conn == nil || (conn == before) != (c.dials == 0) {
					t.Errorf("dialled %q, fetched %v", w.Dials(), w.Fetches())
				}
				if _, err := w.do(q); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// RFC 0049: a request waits for the connection, not for the strategy's delay, after the server said that the old one has no bucket.
func TestAConnectionWithoutItsBucketIsReplacedWhileTheRequestWaits(t *testing.T) {
	inWorld(t, status(memd.StatusNoBucket, 1), func(w *world) {
		if _, err := w.do(w.increment(keyOf0)); err != nil {
			t.Fatal(err)
		}
		equal(t, "requests", w.where(), "0s@a 10ms@a")
	}, strategy(retry.StrategyFunc(func(context.Context, retry.OperationState, retry.Failure) (retry.Action, error) {
		return retry.After(time.Second), nil
	})))
}
