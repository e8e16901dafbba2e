package mongo

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/mongo/logging"
)

// The deprecated options for reads, in lower case.
const (
	slaveOk                      = "slaveok"
	secondaryAcceptableLatencyMS = "secondaryacceptablelatencyms"
)

// legacyReads are the options of the connection string that readPreference and localThresholdMS have replaced (Read Preferences
// document of 2014, "slaveOk" and "Ping Times"). Nil means that an option is not given. The official driver ignores them.
type legacyReads struct {
	slaveOk *bool          // true means secondaryPreferred; false means the default
	latency *time.Duration // secondaryAcceptableLatencyMS, the older name of localThresholdMS
}

// The errors of an option that is given together with the one that has replaced it. The first begins with the document's text.
var (
	errSlaveOkAndPreference = errors.New("mongo: slaveOk is deprecated, use ReadPreference. The connection string's option \"slaveOk\" " +
		"cannot be given together with a read preference")
	errLatencyAndThreshold = errors.New("mongo: the connection string's option \"secondaryAcceptableLatencyMS\" is deprecated; " +
		"it cannot be given together with localThresholdMS, which has replaced it")
)

// parseLegacyReads reads the options of a connection string. The last value of an option counts.
func parseLegacyReads(uri string) (legacyReads, error) {
	var r legacyReads
	for name, value := range optionsOf(uri) {
		if decoded, err := url.QueryUnescape(value); err == nil {
			value = decoded
		}
		switch strings.ToLower(name) {
		case slaveOk:
			on := value == "true"
			if !on && value != "false" {
				return r, fmt.Errorf("mongo: the connection string's option %q is %q; it must be true or false", name, value)
			}
			r.slaveOk = &on
		case secondaryAcceptableLatencyMS:
			latency, err := parseMilliseconds(name, value)
			if err != nil {
				return r, err
			}
			r.latency = &latency
		}
	}
	return r, nil
}

// checkLegacyReads returns an error for a malformed option, and for one that is given together with the one that has replaced it.
func checkLegacyReads(o *options.ClientOptions) error {
	r, err := parseLegacyReads(o.GetURI())
	switch {
	case err != nil:
		return err
	case r.slaveOk != nil && o.ReadPreference != nil:
		return errSlaveOkAndPreference
	case r.latency != nil && o.LocalThreshold != nil:
		return errLatencyAndThreshold
	}
	return nil
}

// applyLegacyReads sets the options that replace those of the connection string, which were checked, and logs a warning for each.
func applyLegacyReads(o *options.ClientOptions, log *logging.Logger) {
	r, _ := parseLegacyReads(o.GetURI()) // checkLegacyReads returns the error
	if r.slaveOk != nil {
		logDeprecated(log, "slaveOk", "readPreference")
		if *r.slaveOk {
			o.ReadPreference = readpref.SecondaryPreferred()
		}
	}
	if r.latency != nil {
		logDeprecated(log, "secondaryAcceptableLatencyMS", "localThresholdMS")
		o.LocalThreshold = r.latency
	}
}

// logDeprecated logs at level info, because the official LoggerOptions have no level for warnings.
func logDeprecated(log *logging.Logger, name, replacement string) {
	log.Log(logging.Connection, logging.Info, "Connection string option deprecated", "option", name, "reason", replacement+" has replaced it")
}
