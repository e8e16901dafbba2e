package unified

import (
	"context"
	"time"
)

// runnerOperations are those whose object is the runner itself.
var runnerOperations map[string]function[*run]

func init() { // createEntities leads back to this table
	runnerOperations = map[string]function[*run]{
		"assertCollectionExists":               assertCollection(true),
		"assertCollectionNotExists":            assertCollection(false),
		"assertDifferentLsidOnLastTwoCommands": assertLsids(false),
		"assertEventCount":                     assertEventCount,
		"assertIndexExists":                    assertIndex(true),
		"assertIndexNotExists":                 assertIndex(false),
		"assertNumberConnectionsCheckedOut":    assertConnectionsCheckedOut,
		"assertSameLsidOnLastTwoCommands":      assertLsids(true),
		"assertSessionDirty":                   assertSession(func(s sessionState) bool { return s.dirty }, "dirty"),
		"assertSessionNotDirty":                assertSession(func(s sessionState) bool { return !s.dirty }, "not dirty"),
		"assertSessionPinned":                  assertSession(func(s sessionState) bool { return s.pinned != "" }, "pinned"),
		"assertSessionUnpinned":                assertSession(func(s sessionState) bool { return s.pinned == "" }, "not pinned"),
		"assertSessionTransactionState":        assertTransactionState,
		"assertTopologyType":                   assertTopologyType,
		"createEntities":                       createEntities,
		"failPoint":                            failPoint,
		"recordTopologyDescription":            recordTopologyDescription,
		"runOnThread":                          runOnThread,
		"targetedFailPoint":                    targetedFailPoint,
		"wait":                                 wait,
		"waitForEvent":                         waitForEvent,
		"waitForPrimaryChange":                 waitForPrimaryChange,
		"waitForThread":                        waitForThread,
	}
}

func createEntities(ctx context.Context, c *run, a *arguments) (any, error) {
	docs := a.documents("entities")
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	return nil, c.createAll(ctx, docs)
}

func wait(ctx context.Context, _ *run, a *arguments) (any, error) {
	ms := a.number("ms")
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	t := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return nil, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
