package mongotest

import (
	"fmt"
	"time"
)

type pipeConfig struct {
	commonConfig
	patience   time.Duration
	standalone bool
}

type pipeOption func(*pipeConfig)

func (o pipeOption) setPipe(c *pipeConfig) { o(c) }

// defaultPatience is how long a pipe waits unless it is told otherwise.
const defaultPatience = 5 * time.Second

// pipeMessages is how many messages a pipe's transcript keeps unless it is told otherwise.
const pipeMessages = 1000

func newPipeConfig(opts []PipeOption) (pipeConfig, error) {
	c := pipeConfig{commonConfig: newCommonConfig(), patience: defaultPatience}
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
	case c.patience <= 0:
		return c, fmt.Errorf("mongotest: Patience(%v): it must be positive", c.patience)
	case len(c.addresses) > 1:
		return c, fmt.Errorf("mongotest: Listen: %d addresses for a black pipe, which has one", len(c.addresses))
	}
	return c, nil
}

// Patience sets how long a black pipe waits, by the clock in force, for the next expected message, and for the test to say
// how a message is answered; 5 s if it is not given.
func Patience(d time.Duration) PipeOption { return pipeOption(func(c *pipeConfig) { c.patience = d }) }

// AsStandalone makes a black pipe's hello that of a standalone. Without it, it is that of the primary of a replica set with
// one member.
func AsStandalone() PipeOption { return pipeOption(func(c *pipeConfig) { c.standalone = true }) }
