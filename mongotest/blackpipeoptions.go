package mongotest

import (
	"fmt"
	"time"
)

type pipeConfig struct {
	commonConfig
	timeout    time.Duration
	standalone bool
}

type pipeOption func(*pipeConfig)

func (o pipeOption) setPipe(c *pipeConfig) { o(c) }

const (
	defaultExpectTimeout = 5 * time.Second
	pipeMessages         = 1000 // that the transcript keeps, if the option TranscriptLimit is not given
)

func newPipeConfig(opts []PipeOption) (pipeConfig, error) {
	c := pipeConfig{commonConfig: newCommonConfig(), timeout: defaultExpectTimeout}
	c.transcript = pipeMessages
	for _, o := range opts {
		if o == nil {
			return c, errNilOption
		}
		o.setPipe(&c)
	}
	if err := c.checkCommon(); err != nil {
		return c, err
	}
	switch {
	case c.timeout <= 0:
		return c, fmt.Errorf("mongotest: ExpectTimeout(%v): it must be positive", c.timeout)
	case len(c.addresses) > 1:
		return c, fmt.Errorf("mongotest: Listen: %d addresses for a black pipe, which has one", len(c.addresses))
	}
	return c, nil
}

// ExpectTimeout sets how long a black pipe waits for the next expected message, and for the test to say what the reply to a
// message is. Without it the timeout is 5 s.
func ExpectTimeout(d time.Duration) PipeOption {
	return pipeOption(func(c *pipeConfig) { c.timeout = d })
}

// AsStandalone makes a black pipe's hello that of a standalone. Without it, it is that of the primary of a replica set with
// one member.
func AsStandalone() PipeOption { return pipeOption(func(c *pipeConfig) { c.standalone = true }) }
