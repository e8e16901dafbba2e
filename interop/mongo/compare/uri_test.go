package compare

import (
	"time"
)

var uriRows = func() []row {
	var rows []row
	for _, o := range []string{
		"tls=false", "ssl=false", "uuidRepresentation=standard", "slaveOk=true", "slaveOk=false", "socketTimeoutMS=0",
		"tlsInsecure=false", "tlsAllowInvalidCertificates=false", "tlsAllowInvalidHostnames=false",
		"authSource=admin", "loadBalanced=false", "directConnection=false", "appName=", "w=0", "w=2",
		"retryWrites=maybe", "w=0&journal=true", "w=-3", "heartbeatFrequencyMS=0", "localThresholdMS=0", "localThresholdMS=-1",
		"maxIdleTimeMS=0", "maxPoolSize=0", "readConcernLevel=", "readPreference=nonsense", "maxStalenessSeconds=-1",
		"srvMaxHosts=0", "timeoutMS=-1", "tls=maybe", "compressors=", "compressors=zlib", "zlibCompressionLevel=1", "compressors=zlib&zlibCompressionLevel=10",
		"compressors=zstd&zstdCompressionLevel=23",
		"waitQueueTimeoutMS=10", "socketTimeoutMS=5", "wtimeoutMS=5&timeoutMS=0", "wtimeout=5", "waitQueueSize=5", "serverSelectionTryOnce=true",
		"heartbeatIntervalMS=700", "connect=automatic", "connect=nonsense", "socketTimeoutMS=-1", "nonsense=1",
	} {
		rows = append(rows, row{name: "connection string with " + o, uri: "&" + o, do: insertOne(one)})
	}
	for _, o := range []string{
		"uuidRepresentation=pythonLegacy", "wtimeoutMS=-5", "waitQueueTimeoutMS=x",
	} {
		rows = append(rows, row{
			name: "connection string with " + o, uri: "&" + o, do: insertOne(one),
			differ: []string{"Connect", "result", "error", "took", "sent"}, why: "an option that is not supported is an error",
		})
	}
	rows = append(rows, row{
		name: "connection string with wtimeoutMS=5", uri: "&wtimeoutMS=5", do: insertOne(one),
		differ: []string{"sent"}, why: "the official driver ignores wTimeoutMS",
	})
	for _, o := range []string{"slaveOk=true&readPreference=primary", "secondaryAcceptableLatencyMS=5&localThresholdMS=5"} {
		rows = append(rows, row{
			name: "connection string with " + o, uri: "&" + o, do: insertOne(one), differ: []string{"Connect", "result", "error", "took", "sent"},
			why: "the official driver ignores `slaveOk` and `secondaryAcceptableLatencyMS` of a connection string",
		})
	}
	// A handshake without a time limit has no row: the official driver's Disconnect waits for it for ever.
	for _, o := range []string{"connectTimeoutMS=0", "serverSelectionTimeoutMS=0", "maxConnecting=0"} {
		rows = append(rows,
			row{name: o, uri: "&" + o, do: insertOne(one)},
			row{name: o + " and a server that is dead", uri: "&" + o, do: within(10*time.Minute, insertOne(one)), faults: killed, cold: true},
			row{name: o + " and a server that is silent", uri: "&" + o, do: within(10*time.Minute, insertOne(one)), faults: silent("hello"), cold: true},
		)
	}
	return rows
}()
