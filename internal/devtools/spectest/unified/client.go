package unified

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

type clientDescription struct {
	ID                            string        `bson:"id"`
	URIOptions                    bson.Raw      `bson:"uriOptions"`
	UseMultipleMongoses           *bool         `bson:"useMultipleMongoses"`
	ObserveEvents                 []string      `bson:"observeEvents"`
	IgnoreCommandMonitoringEvents []string      `bson:"ignoreCommandMonitoringEvents"`
	ObserveSensitiveCommands      bool          `bson:"observeSensitiveCommands"`
	ObserveLogMessages            bson.RawValue `bson:"observeLogMessages"`
	ObserveTracingMessages        bson.RawValue `bson:"observeTracingMessages"`
	ServerAPI                     *serverAPI    `bson:"serverApi"`
	AutoEncryptOpts               bson.RawValue `bson:"autoEncryptOpts"`
	AwaitMinPoolSizeMS            int64         `bson:"awaitMinPoolSizeMS"`
}

type serverAPI struct {
	Version           string `bson:"version"`
	Strict            *bool  `bson:"strict"`
	DeprecationErrors *bool  `bson:"deprecationErrors"`
}

// clientEntity is a client with what it published.
type clientEntity struct {
	*mongoClient
	recorder *recorder
	spans    func() []Span // nil if it is not traced
}

func (c *run) connect(ctx context.Context, d *clientDescription) (*clientEntity, error) {
	uri, opts, err := c.clientOptions(d)
	if err != nil {
		return nil, err
	}
	e := &clientEntity{recorder: newRecorder(d.ObserveEvents, d.IgnoreCommandMonitoringEvents, d.ObserveSensitiveCommands)}
	e.recorder.attach(opts, c.readsServerEvents(d))
	if err := e.recorder.attachLog(opts, d.ObserveLogMessages); err != nil {
		return nil, err
	}
	tracer, err := c.traced(e, d)
	if err != nil {
		return nil, err
	}
	if tracer == nil {
		e.mongoClient, err = mongoConnect(opts)
	} else {
		e.mongoClient, err = mongoOpen(uri, tracer, opts)
	}
	if err != nil {
		return nil, err
	}
	if d.AwaitMinPoolSizeMS > 0 {
		if err := e.awaitMinPoolSize(ctx, d, opts); err != nil {
			_ = e.Disconnect(ctx)
			return nil, err
		}
	}
	return e, nil
}

// readsServerEvents reports whether the case asks about the events of a client's servers and topology.
func (c *run) readsServerEvents(d *clientDescription) bool {
	observed := func(name string) bool {
		return strings.HasPrefix(name, "server") || strings.HasPrefix(name, "topology")
	}
	records := func(operation bson.Raw) bool { return bytes.Contains(operation, []byte("recordTopologyDescription")) }
	return d.AwaitMinPoolSizeMS > 0 || slices.ContainsFunc(d.ObserveEvents, observed) || slices.ContainsFunc(c.test.Operations, records)
}

// usesOneMongos reports whether a client knows one mongos only. Where the file leaves that open, a fail point of the case decides it: at
// one of two mongos, it would meet the client's operations by luck.
func (c *run) usesOneMongos(d *clientDescription) bool {
	if d.UseMultipleMongoses != nil {
		return !*d.UseMultipleMongoses
	}
	return slices.ContainsFunc(c.test.Operations, func(operation bson.Raw) bool {
		name, _ := operation.Lookup("name").StringValueOK()
		return name == "failPoint"
	})
}

// clientOptions returns the connection string of a client, and its options. Those of a client that is traced lack what the string says.
func (c *run) clientOptions(d *clientDescription) (string, *options.ClientOptions, error) {
	if d.AutoEncryptOpts.Type != 0 {
		return "", nil, errors.New("autoEncryptOpts is not supported by this runner")
	}
	deployment := c.runner.Deployment
	base := deployment.URI()
	if c.usesOneMongos(d) {
		base = deployment.SingleURI()
	}
	uri, err := withURIOptions(base, d.URIOptions)
	if err != nil {
		return "", nil, err
	}
	opts := options.Client()
	if d.ObserveTracingMessages.Type == 0 {
		opts.ApplyURI(uri)
	}
	if mode, ok := d.URIOptions.Lookup("serverMonitoringMode").StringValueOK(); ok {
		opts.SetServerMonitoringMode(mode) // the official client does not apply that of a connection string
	}
	deployment.Configure(opts)
	if d.ServerAPI != nil {
		api := options.ServerAPI(options.ServerAPIVersion(d.ServerAPI.Version))
		api.Strict, api.DeprecationErrors = d.ServerAPI.Strict, d.ServerAPI.DeprecationErrors
		opts.SetServerAPIOptions(api)
	}
	return uri, opts, opts.Validate()
}

// withURIOptions overrides the options of a connection string.
func withURIOptions(uri string, extra bson.Raw) (string, error) {
	if extra == nil {
		return uri, nil
	}
	address, query, _ := strings.Cut(uri, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", err
	}
	elements, err := extra.Elements()
	if err != nil {
		return "", err
	}
	for _, e := range elements {
		name := e.Key()
		for old := range values {
			if strings.EqualFold(old, name) {
				values.Del(old)
			}
		}
		if name == "authMechanismProperties" && isPlaceholder(e.Value()) {
			continue // what the deployment has is for Configure to say
		}
		if values[name], err = uriTexts(e.Value()); err != nil {
			return "", fmt.Errorf("uriOptions: %s: %w", name, err)
		}
	}
	if values.Get("directConnection") == "true" {
		values.Del("replicaSet")
		address = firstSeed(address)
	}
	return address + "?" + values.Encode(), nil
}

// isPlaceholder reports whether a value stands for one of the deployment's own.
func isPlaceholder(v bson.RawValue) bool {
	doc, ok := v.DocumentOK()
	return ok && doc.Lookup("$$placeholder").Type != 0
}

// firstSeed leaves one host of mongodb://host,host/.
func firstSeed(address string) string {
	first, others, several := strings.Cut(address, ",")
	if !several {
		return address
	}
	_, path, _ := strings.Cut(others, "/")
	return first + "/" + path
}

// uriTexts are a value as a connection string has it; an array is an option given several times.
func uriTexts(v bson.RawValue) ([]string, error) {
	values := []bson.RawValue{v}
	if array, ok := v.ArrayOK(); ok {
		var err error
		if values, err = array.Values(); err != nil {
			return nil, err
		}
	}
	texts := make([]string, len(values))
	for i, v := range values {
		n, err := native(v)
		if _, isDocument := n.(bson.Raw); isDocument {
			err = fmt.Errorf("%v is not supported by this runner", v)
		}
		if err != nil {
			return nil, err
		}
		texts[i] = fmt.Sprint(n)
	}
	return texts, nil
}

// awaitMinPoolSize waits until every data-bearing server's pool is filled, and forgets the events until then.
func (e *clientEntity) awaitMinPoolSize(ctx context.Context, d *clientDescription, opts *options.ClientOptions) error {
	if opts.MinPoolSize == nil || *opts.MinPoolSize == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(d.AwaitMinPoolSizeMS)*time.Millisecond)
	defer cancel()
	err := e.recorder.await(ctx, func() bool {
		bearing := 0
		for _, s := range e.recorder.topology.Servers {
			switch s.Kind {
			case "Unknown":
				return false
			case "RSArbiter", "RSGhost", "RSOther":
				continue
			}
			bearing++
			if e.recorder.ready[s.Addr.String()] < int(*opts.MinPoolSize) {
				return false
			}
		}
		return bearing > 0
	})
	if err != nil {
		return fmt.Errorf("awaitMinPoolSizeMS: %w", err)
	}
	e.recorder.forget()
	return nil
}
