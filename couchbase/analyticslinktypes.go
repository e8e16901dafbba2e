package couchbase

// S3ExternalAnalyticsLink is a link to data in S3.
type S3ExternalAnalyticsLink struct {
	Dataverse       string
	LinkName        string
	AccessKeyID     string
	SecretAccessKey string // the service does not send it
	SessionToken    string // the service does not send it
	Region          string
	ServiceEndpoint string
}

var _ AnalyticsLink = (*S3ExternalAnalyticsLink)(nil)

// Name returns the link's name.
func (al *S3ExternalAnalyticsLink) Name() string { return al.LinkName }

// DataverseName returns the link's dataverse.
func (al *S3ExternalAnalyticsLink) DataverseName() string { return al.Dataverse }

// LinkType returns AnalyticsLinkTypeS3External.
func (al *S3ExternalAnalyticsLink) LinkType() AnalyticsLinkType { return AnalyticsLinkTypeS3External }

// FormEncode returns the link as the body of the request that would create it.
func (al *S3ExternalAnalyticsLink) FormEncode() ([]byte, error) {
	return linkForm(
		al, "accessKeyId", al.AccessKeyID, "secretAccessKey", al.SecretAccessKey, "sessionToken", al.SessionToken, "region", al.Region,
		"serviceEndpoint", al.ServiceEndpoint,
	), nil
}

// Validate returns an error if the link could not be created.
func (al *S3ExternalAnalyticsLink) Validate() error {
	if err := checkLink(al.Dataverse, al.LinkName); err != nil {
		return err
	}
	for field, value := range map[string]string{"AccessKeyID": al.AccessKeyID, "SecretAccessKey": al.SecretAccessKey, "Region": al.Region} {
		if value == "" {
			return invalid("%s is empty", field)
		}
	}
	return nil
}

// AzureBlobExternalAnalyticsLink is a link to data in Azure's blob storage.
type AzureBlobExternalAnalyticsLink struct {
	Dataverse             string
	LinkName              string
	ConnectionString      string // the service does not send it
	AccountName           string
	AccountKey            string // the service does not send it
	SharedAccessSignature string // the service does not send it
	BlobEndpoint          string
	EndpointSuffix        string
}

var _ AnalyticsLink = (*AzureBlobExternalAnalyticsLink)(nil)

// Name returns the link's name.
func (al *AzureBlobExternalAnalyticsLink) Name() string { return al.LinkName }

// DataverseName returns the link's dataverse.
func (al *AzureBlobExternalAnalyticsLink) DataverseName() string { return al.Dataverse }

// LinkType returns AnalyticsLinkTypeAzureExternal.
func (al *AzureBlobExternalAnalyticsLink) LinkType() AnalyticsLinkType {
	return AnalyticsLinkTypeAzureExternal
}

// FormEncode returns the link as the body of the request that would create it.
func (al *AzureBlobExternalAnalyticsLink) FormEncode() ([]byte, error) {
	return linkForm(
		al, "connectionString", al.ConnectionString, "accountName", al.AccountName, "accountKey", al.AccountKey,
		"sharedAccessSignature", al.SharedAccessSignature, "blobEndpoint", al.BlobEndpoint, "endpointSuffix", al.EndpointSuffix,
	), nil
}

// Validate returns an error if the link could not be created.
func (al *AzureBlobExternalAnalyticsLink) Validate() error {
	if err := checkLink(al.Dataverse, al.LinkName); err != nil {
		return err
	}
	if al.ConnectionString == "" && (al.AccountName == "" || al.AccountKey == "" && al.SharedAccessSignature == "") {
		return invalid("the link needs ConnectionString, or AccountName with AccountKey or SharedAccessSignature")
	}
	return nil
}

// AnalyticsEncryptionLevel says what is encrypted between the clusters of a [CouchbaseRemoteAnalyticsLink].
type AnalyticsEncryptionLevel uint8

// The levels.
const (
	AnalyticsEncryptionLevelNone AnalyticsEncryptionLevel = iota
	AnalyticsEncryptionLevelHalf                          // only the password
	AnalyticsEncryptionLevelFull
)

var encryptionLevels = [...]string{"none", "half", "full"}

// String returns the service's name of the level.
func (ael AnalyticsEncryptionLevel) String() string {
	if int(ael) < len(encryptionLevels) {
		return encryptionLevels[ael]
	}
	return ""
}

// CouchbaseRemoteAnalyticsEncryptionSettings say how the clusters of a link encrypt.
type CouchbaseRemoteAnalyticsEncryptionSettings struct {
	EncryptionLevel   AnalyticsEncryptionLevel
	Certificate       []byte // of the other cluster; only with full encryption
	ClientCertificate []byte // in place of user name and password; only with full encryption
	ClientKey         []byte // the service does not send it
}

// CouchbaseRemoteAnalyticsLink is a link to another Couchbase cluster.
type CouchbaseRemoteAnalyticsLink struct {
	Dataverse  string
	LinkName   string
	Hostname   string
	Encryption CouchbaseRemoteAnalyticsEncryptionSettings
	Username   string
	Password   string // the service does not send it
}

var _ AnalyticsLink = (*CouchbaseRemoteAnalyticsLink)(nil)

// Name returns the link's name.
func (al *CouchbaseRemoteAnalyticsLink) Name() string { return al.LinkName }

// DataverseName returns the link's dataverse.
func (al *CouchbaseRemoteAnalyticsLink) DataverseName() string { return al.Dataverse }

// LinkType returns AnalyticsLinkTypeCouchbaseRemote.
func (al *CouchbaseRemoteAnalyticsLink) LinkType() AnalyticsLinkType {
	return AnalyticsLinkTypeCouchbaseRemote
}

// FormEncode returns the link as the body of the request that would create it.
func (al *CouchbaseRemoteAnalyticsLink) FormEncode() ([]byte, error) {
	e := &al.Encryption
	return linkForm(
		al, "hostname", al.Hostname, "encryption", e.EncryptionLevel.String(), "username", al.Username, "password", al.Password,
		"certificate", string(e.Certificate), "clientCertificate", string(e.ClientCertificate), "clientKey", string(e.ClientKey),
	), nil
}

// Validate returns an error if the link could not be created.
func (al *CouchbaseRemoteAnalyticsLink) Validate() error {
	if err := checkLink(al.Dataverse, al.LinkName); err != nil {
		return err
	}
	e := &al.Encryption
	withPassword := al.Username != "" && al.Password != ""
	switch {
	case al.Hostname == "":
		return invalid("Hostname is empty")
	case e.EncryptionLevel != AnalyticsEncryptionLevelFull && !withPassword:
		return invalid("without full encryption the link needs Username and Password")
	case e.EncryptionLevel == AnalyticsEncryptionLevelFull && len(e.Certificate) == 0:
		return invalid("Encryption.Certificate is empty: full encryption needs it")
	case e.EncryptionLevel == AnalyticsEncryptionLevelFull && withPassword == (len(e.ClientCertificate) > 0 && len(e.ClientKey) > 0):
		return invalid("full encryption needs either Username and Password, or Encryption.ClientCertificate and Encryption.ClientKey")
	default:
		return nil
	}
}
