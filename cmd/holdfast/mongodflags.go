package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/holdfast-db/holdfast/mongotest"
)

// mongodFlags are the supported flags of mongod, with mongod's names.
// https://www.mongodb.com/docs/manual/reference/program/mongod/
type mongodFlags struct {
	ReplSet            string   `name:"replSet" placeholder:"NAME" help:"Start one member of a replica set, for replSetInitiate. The process that receives replSetInitiate hosts the whole set. The other members' processes forward their clients to it, and end when it ends."`
	BindIP             []string `name:"bind_ip" placeholder:"HOST" help:"The addresses to listen on, instead of --host; * for all."`
	BindIPAll          bool     `name:"bind_ip_all" help:"Listen on all addresses."`
	IPv6               bool     `name:"ipv6" help:"With --bind_ip_all, and for names with addresses of both kinds, listen on the IPv6 addresses too."`
	UnixSocketPrefix   string   `name:"unixSocketPrefix" placeholder:"FOLDER" help:"Also listen on a Unix socket in this folder."`
	NoUnixSocket       bool     `name:"nounixsocket" help:"Do not listen on a Unix socket (the default)."`
	Auth               bool     `name:"auth" help:"Require authentication as soon as there is a user."`
	NoAuth             bool     `name:"noauth" help:"Do not require authentication (the default)."`
	KeyFile            string   `name:"keyFile" placeholder:"FILE" help:"The same as --auth. The key is not needed."`
	SetParameter       []string `name:"setParameter" sep:"none" placeholder:"NAME=VALUE" help:"A server parameter; may be repeated. Unknown ones are listed on standard error."`
	Compressors        string   `name:"networkMessageCompressors" placeholder:"NAMES" help:"The supported compressors, or disabled."`
	TLSMode            string   `name:"tlsMode" enum:",disabled,allowTLS,preferTLS,requireTLS" default:"" placeholder:"MODE" help:"disabled, allowTLS, preferTLS or requireTLS."`
	TLSCertificateFile string   `name:"tlsCertificateKeyFile" placeholder:"FILE" help:"The server's certificate and key, as PEM."`
	TLSClientCAFile    string   `name:"tlsCAFile" placeholder:"FILE" help:"The authorities for clients' certificates, which are then required."`
	TLSNoClientCert    bool     `name:"tlsAllowConnectionsWithoutCertificates" help:"Clients need no certificate."`
	DBPath             string   `name:"dbpath" placeholder:"FOLDER" help:"Only a lock file is stored there, which --shutdown needs."`
	LogPath            string   `name:"logpath" placeholder:"FILE" help:"Log to this file. An existing regular file is renamed."`
	LogAppend          bool     `name:"logappend" help:"Append to an existing log file instead of renaming it."`
	PIDFile            string   `name:"pidfilepath" placeholder:"FILE" help:"Write the process's id to this file."`
	OplogSize          *int     `name:"oplogSize" placeholder:"MB" help:"How large each member's oplog is; without it 256. A full one forgets its oldest entries."`
	Shutdown           bool     `name:"shutdown" help:"End the process that runs with this --dbpath."`
	Version            bool     `name:"version" help:"Print the server's version in mongod's form."`
	Fork               bool     `name:"fork" hidden:""`
	Config             string   `name:"config" short:"f" hidden:""`

	Ineffective ineffectiveFlags `embed:""`
}

// ineffective is the group of flags that are accepted without effect, because tools pass them.
const ineffective = "ineffective"

// ineffectiveFlags are flags of mongod that have no effect here.
type ineffectiveFlags struct {
	StorageEngine          string `name:"storageEngine" hidden:"" group:"ineffective"`
	WTCacheSize            string `name:"wiredTigerCacheSizeGB" hidden:"" group:"ineffective"`
	WTCachePct             string `name:"wiredTigerCacheSizePct" hidden:"" group:"ineffective"`
	WTJournalCompressor    string `name:"wiredTigerJournalCompressor" hidden:"" group:"ineffective"`
	WTCollectionCompressor string `name:"wiredTigerCollectionBlockCompressor" hidden:"" group:"ineffective"`
	WTPrefixCompression    string `name:"wiredTigerIndexPrefixCompression" hidden:"" group:"ineffective"`
	WTEngineConfig         string `name:"wiredTigerEngineConfigString" hidden:"" group:"ineffective"`
	WTIndexFolders         bool   `name:"wiredTigerDirectoryForIndexes" hidden:"" group:"ineffective"`
	InMemorySize           string `name:"inMemorySizeGB" hidden:"" group:"ineffective"`
	OplogHours             string `name:"oplogMinRetentionHours" hidden:"" group:"ineffective"`
	MajorityReadConcern    string `name:"enableMajorityReadConcern" hidden:"" group:"ineffective"`
	DirectoryPerDB         bool   `name:"directoryperdb" hidden:"" group:"ineffective"`
	Journal                bool   `name:"journal" hidden:"" group:"ineffective"`
	NoJournal              bool   `name:"nojournal" hidden:"" group:"ineffective"`
	JournalInterval        string `name:"journalCommitInterval" hidden:"" group:"ineffective"`
	SyncDelay              string `name:"syncdelay" hidden:"" group:"ineffective"`
	NoPrealloc             bool   `name:"noprealloc" hidden:"" group:"ineffective"`
	SmallFiles             bool   `name:"smallfiles" hidden:"" group:"ineffective"`
	MaxConns               string `name:"maxConns" hidden:"" group:"ineffective"`
	NoScripting            bool   `name:"noscripting" hidden:"" group:"ineffective"`
	Quiet                  bool   `name:"quiet" hidden:"" group:"ineffective"`
	Verbose                int    `name:"verbose" short:"v" type:"counter" hidden:"" group:"ineffective"`
	SlowMS                 string `name:"slowms" hidden:"" group:"ineffective"`
	SlowOpSampleRate       string `name:"slowOpSampleRate" hidden:"" group:"ineffective"`
	Profile                string `name:"profile" hidden:"" group:"ineffective"`
	TimeStampFormat        string `name:"timeStampFormat" hidden:"" group:"ineffective"`
	LogRotate              string `name:"logRotate" hidden:"" group:"ineffective"`
	FilePermissions        string `name:"filePermissions" hidden:"" group:"ineffective"`
	ClusterAuthMode        string `name:"clusterAuthMode" hidden:"" group:"ineffective"`
	TransitionToAuth       bool   `name:"transitionToAuth" hidden:"" group:"ineffective"`
	RedactClientLogData    bool   `name:"redactClientLogData" hidden:"" group:"ineffective"`
}

// ineffectiveGiven returns the flags of a command line that have no effect.
func ineffectiveGiven(path []*kong.Path) []string {
	var names []string
	for _, p := range path {
		if p.Flag == nil || p.Flag.Group == nil || p.Flag.Group.Key != ineffective {
			continue
		}
		if name := "--" + p.Flag.Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// check returns an error for flags that are not supported or contradict each other.
func (f *mongodFlags) check() error {
	switch {
	case f.Fork:
		return errors.New("--fork is not supported; start the program in the background instead")
	case f.Config != "":
		return errors.New("--config is not supported; give its settings as flags")
	case f.Auth && f.NoAuth, f.KeyFile != "" && f.NoAuth:
		return errors.New("--noauth excludes --auth and --keyFile")
	case f.BindIPAll && len(f.BindIP) > 0:
		return errors.New("--bind_ip and --bind_ip_all exclude each other")
	case f.UnixSocketPrefix != "" && f.NoUnixSocket:
		return errors.New("--unixSocketPrefix and --nounixsocket exclude each other")
	case f.OplogSize != nil && *f.OplogSize < 1:
		return fmt.Errorf("--oplogSize is %d; it must be at least 1", *f.OplogSize)
	case f.Shutdown && f.DBPath == "":
		return errors.New("--shutdown needs the --dbpath of the process to end")
	case f.speaksTLS() && f.TLSCertificateFile == "":
		return fmt.Errorf("--tlsMode %s needs a --tlsCertificateKeyFile", f.TLSMode)
	case !f.speaksTLS() && f.TLSCertificateFile+f.TLSClientCAFile != "":
		return errors.New("--tlsCertificateKeyFile and --tlsCAFile need a --tlsMode")
	}
	return nil
}

func (f *mongodFlags) speaksTLS() bool { return f.TLSMode != "" && f.TLSMode != "disabled" }

// frontTLS returns the TLS configuration of the flags, nil without TLS.
func (f *mongodFlags) frontTLS() (*frontTLS, error) {
	if !f.speaksTLS() {
		return nil, nil
	}
	config, err := serverTLS(fileFlag{"--tlsCertificateKeyFile", f.TLSCertificateFile}, fileFlag{"--tlsCAFile", f.TLSClientCAFile})
	if err != nil {
		return nil, err
	}
	if f.TLSClientCAFile != "" && f.TLSNoClientCert {
		config.ClientAuth = tls.VerifyClientCertIfGiven
	}
	return &frontTLS{config: config, required: f.TLSMode == "requireTLS"}, nil
}

// options returns the options of the flags, and the parameters that the servers do not know.
func (f *mongodFlags) options() (opts []mongotest.Option, unknown []string, err error) {
	values := make(map[string]string)
	for _, p := range f.SetParameter {
		name, value, ok := strings.Cut(p, "=")
		switch {
		case !ok || name == "":
			return nil, nil, fmt.Errorf("--setParameter is %q; it must be NAME=VALUE", p)
		case slices.Contains(mongotest.ParameterNames(), name):
			values[name] = value
		default:
			unknown = append(unknown, "--setParameter "+name)
		}
	}
	opts = append(opts, mongotest.StartParameters(values))
	switch f.Compressors {
	case "":
	case "disabled":
		opts = append(opts, mongotest.Compressors())
	default:
		opts = append(opts, mongotest.Compressors(strings.Split(f.Compressors, ",")...))
	}
	if f.OplogSize != nil {
		opts = append(opts, mongotest.OplogSize(*f.OplogSize))
	}
	if f.Auth || f.KeyFile != "" {
		opts = append(opts, mongotest.RequireAuth())
	}
	return opts, unknown, nil
}
