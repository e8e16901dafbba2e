// Package mongofault is what an exploration of a MongoDB program needs: the failures, and the servers of one run, which do the failures
// of its case.
//
// Begin with site.go. Then settings.go, failure.go, list.go, injector.go, story.go.
package mongofault

import (
	"context"
	"fmt"

	"github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/internal/explore/site"
	"github.com/holdfast-db/holdfast/mongotest"
)

// Site is the servers of one run, which do the failures of its case. Its life: Start, then the program's work; Heal, then the check;
// Close, then Fill. Its methods are safe for concurrent use.
type Site struct {
	*site.Base
	deployment *mongotest.Deployment
	pace       pace
	failures   map[string]*Failure
}

// Start starts the servers of a run.
func Start(s Settings, c explore.Case) (*Site, error) {
	failures, err := s.Failures.ByName(c)
	if err != nil {
		return nil, err
	}
	site := &Site{Base: site.New(c), pace: s.pace(), failures: failures}
	d, err := s.run()
	if err != nil {
		return nil, err
	}
	site.deployment = d
	d.Use(mongotest.AnyCommand, site.intercept)
	return site, nil
}

// Deployment returns the servers.
func (s *Site) Deployment() *mongotest.Deployment { return s.deployment }

// Heal ends the failures: late requests arrive, members run and reach each other again. It returns when there is a primary, each message
// is executed, but for those that wait for news, every member has all that was written, and in memory clients have seen it. Messages that
// come afterwards are not recorded.
func (s *Site) Heal(ctx context.Context) error {
	s.EndFailures(s.deployment.Heal)
	if _, err := s.deployment.WaitPrimary(ctx); err != nil {
		return fmt.Errorf("explore: there is no primary after all failures had ended: %w", err)
	}
	if err := s.deployment.WaitIdle(ctx); err != nil {
		return fmt.Errorf("explore: after all failures had ended, a message is not answered, or a member has not got all writes: %w", err)
	}
	return s.Settle(ctx, s.pace.settle)
}

// Close ends the failures and the servers.
func (s *Site) Close() error {
	s.EndFailures(s.deployment.Heal)
	return s.deployment.Close()
}

// Fill tells an outcome what happened. The servers may be closed.
func (s *Site) Fill(o *explore.Outcome) { s.Tell(o, s.fates()) }
