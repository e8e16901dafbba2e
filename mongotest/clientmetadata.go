package mongotest

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://github.com/mongodb/specifications/blob/master/source/mongodb-handshake/handshake.md, Limitations

const (
	maxMetadata = 512 // bytes of the document
	maxAppName  = 128 // bytes of the application's name in it
)

// checkClient refuses metadata of a client that are longer than a client may send.
func checkClient(client query.Value) error {
	if !client.IsDocument() {
		return nil
	}
	name := query.Lookup(query.Lookup(client.Data, "application").Data, "name")
	switch {
	case len(client.Data) > maxMetadata:
		return mongoerr.Errorf(mongoerr.ClientMetadataDocumentTooLarge,
			"The client metadata document must be less then or equal to %dbytes", maxMetadata)
	case len(name.Text()) > maxAppName:
		return mongoerr.Errorf(mongoerr.ClientMetadataAppNameTooLarge,
			"The 'application.name' field in the client metadata document must be less then or equal to %d bytes", maxAppName)
	}
	return nil
}
