package cluster

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// maxMetadata is the largest size of the client's metadata, in bytes (MongoDB Handshake, "Limitations").
const maxMetadata = 512

// DriverInfo names a library that wraps the client. An empty field says nothing.
type DriverInfo struct{ Name, Version, Platform string }

// metadata has the client's metadata: the document "client" of a first hello. It is safe for concurrent use.
type metadata struct {
	appName     string
	environment Environment

	mu        sync.Mutex // serialises add
	libraries []DriverInfo
	encoded   atomic.Pointer[[]byte]
}

// document returns the metadata, which must not be changed.
func (m *metadata) document() []byte { return *m.encoded.Load() }

// add adds a library, unless the same one was added before (MongoDB Handshake, "Metadata updates"). An empty one adds
// nothing.
func (m *metadata) add(info DriverInfo) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.encoded.Load() != nil && slices.Contains(m.libraries, info) {
		return
	}
	m.libraries = append(m.libraries, info)
	doc := encodeMetadata(m.appName, joined(m.libraries), &m.environment)
	m.encoded.Store(&doc)
}

// joined returns the client's own name, version and platform, followed by those of the libraries. A value is repeated where
// two libraries have the same one, so that each name keeps its version (MongoDB Handshake, "Appending metadata").
func joined(libraries []DriverInfo) DriverInfo {
	all := DriverInfo{"holdfast", Version, runtime.Version()}
	for _, l := range libraries {
		join(&all.Name, l.Name)
		join(&all.Version, l.Version)
		join(&all.Platform, l.Platform)
	}
	return all
}

// join appends a value, if there is one.
func join(to *string, value string) {
	if value != "" {
		*to += "|" + value
	}
}

// metadataDocument is the metadata before it is encoded. Empty fields are left out.
type metadataDocument struct {
	appName string
	driver  DriverInfo
	system  system
	env     env
}

// encodeMetadata returns the metadata. If it is too large, fields are left out in the order of the specification; then the
// libraries, which the specification does not mention.
func encodeMetadata(appName string, driver DriverInfo, e *Environment) []byte {
	d := metadataDocument{appName: appName, driver: driver, system: e.system(), env: e.env()}
	for _, shrink := range []func(){
		func() {},
		func() { d.env = env{name: d.env.name} },
		func() { d.system = system{kind: d.system.kind} },
		func() { d.env = env{} },
		func() {
			over := len(d.encode()) - maxMetadata
			kept := d.driver.Platform[:max(0, len(d.driver.Platform)-over)]
			d.driver.Platform = strings.ToValidUTF8(kept, "") // the cut may be inside a character
		},
		func() { d.driver.Name, d.driver.Version = "holdfast", Version },
	} {
		shrink()
		if doc := d.encode(); len(doc) <= maxMetadata {
			return doc
		}
	}
	return d.encode()
}

func (d *metadataDocument) encode() []byte {
	at, b := wire.BeginDocument(nil)
	if d.appName != "" {
		app, rest := wire.BeginEmbedded(b, "application")
		b = wire.EndDocument(wire.AppendString(rest, "name", d.appName), app)
	}
	driver, b := wire.BeginEmbedded(b, "driver")
	b = wire.AppendString(b, "name", d.driver.Name)
	b = wire.AppendString(b, "version", d.driver.Version)
	b = wire.EndDocument(b, driver)
	b = d.system.append(b)
	if d.driver.Platform != "" {
		b = wire.AppendString(b, "platform", d.driver.Platform)
	}
	return wire.EndDocument(d.env.append(b), at)
}

// appendText writes a string that is not empty.
func appendText(b []byte, key, value string) []byte {
	if value == "" {
		return b
	}
	return wire.AppendString(b, key, value)
}
