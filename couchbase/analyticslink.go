package couchbase

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
)

// AnalyticsLinkType is the kind of the data to which a link leads.
type AnalyticsLinkType string

// The kinds.
const (
	AnalyticsLinkTypeS3External      AnalyticsLinkType = "s3"
	AnalyticsLinkTypeAzureExternal   AnalyticsLinkType = "azureblob"
	AnalyticsLinkTypeCouchbaseRemote AnalyticsLinkType = "couchbase"
)

// AnalyticsLink is a link of the analytics service to other data: an [S3ExternalAnalyticsLink], an [AzureBlobExternalAnalyticsLink]
// or a [CouchbaseRemoteAnalyticsLink].
type AnalyticsLink interface {
	Name() string
	DataverseName() string
	// FormEncode returns the link as the body of the request that would create it.
	FormEncode() ([]byte, error)
	// Validate returns an error if the link could not be created.
	Validate() error
	LinkType() AnalyticsLinkType
}

// linkFields are the fields of links as the service sends them.
type linkFields struct {
	Type      AnalyticsLinkType `json:"type"`
	Name      string            `json:"name"`
	Dataverse string            `json:"dataverse"`
	Scope     string            `json:"scope"` // newer services have it in place of the dataverse

	AccessKeyID     string `json:"accessKeyId"`
	Region          string `json:"region"`
	ServiceEndpoint string `json:"serviceEndpoint"`

	AccountName    string `json:"accountName"`
	BlobEndpoint   string `json:"blobEndpoint"`
	EndpointSuffix string `json:"endpointSuffix"`

	ActiveHostname    string `json:"activeHostname"`
	Encryption        string `json:"encryption"`
	Username          string `json:"username"`
	Certificate       string `json:"certificate"`
	ClientCertificate string `json:"clientCertificate"`
}

// readAnalyticsLink reads a link as the service describes it.
func readAnalyticsLink(b []byte) (AnalyticsLink, error) {
	var f linkFields
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, err
	}
	if f.Dataverse == "" {
		f.Dataverse = f.Scope
	}
	switch f.Type {
	case AnalyticsLinkTypeS3External:
		return &S3ExternalAnalyticsLink{
			Dataverse: f.Dataverse, LinkName: f.Name, AccessKeyID: f.AccessKeyID, Region: f.Region, ServiceEndpoint: f.ServiceEndpoint,
		}, nil
	case AnalyticsLinkTypeAzureExternal:
		return &AzureBlobExternalAnalyticsLink{
			Dataverse: f.Dataverse, LinkName: f.Name, AccountName: f.AccountName, BlobEndpoint: f.BlobEndpoint, EndpointSuffix: f.EndpointSuffix,
		}, nil
	case AnalyticsLinkTypeCouchbaseRemote:
		link := &CouchbaseRemoteAnalyticsLink{Dataverse: f.Dataverse, LinkName: f.Name, Hostname: f.ActiveHostname, Username: f.Username}
		link.Encryption.Certificate, link.Encryption.ClientCertificate = []byte(f.Certificate), []byte(f.ClientCertificate)
		link.Encryption.EncryptionLevel = AnalyticsEncryptionLevel(max(slices.Index(encryptionLevels[:], f.Encryption), 0)) //nolint:gosec // 0 to 2
		return link, nil
	default:
		return nil, fmt.Errorf("%w: the analytics link %q has the type %q, which this client does not know", ErrDecodingFailure, f.Name, f.Type)
	}
}

// checkLink returns an error if a link has no name or dataverse.
func checkLink(dataverse, name string) error {
	switch {
	case dataverse == "":
		return invalid("Dataverse is empty")
	case name == "":
		return invalid("LinkName is empty")
	default:
		return nil
	}
}

// linkForm returns a form. pairs are names and values; empty values are left out.
func linkForm(l AnalyticsLink, pairs ...string) []byte {
	form := url.Values{"type": {string(l.LinkType())}}
	pairs = append(pairs, "dataverse", l.DataverseName(), "name", l.Name())
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			form.Set(pairs[i], pairs[i+1])
		}
	}
	return []byte(form.Encode())
}
