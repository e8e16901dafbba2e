package rules

import (
	"fmt"
	"strconv"
	"strings"
)

// MongoServer is a kind of MongoDB deployment.
type MongoServer string

// The kinds.
const (
	ReplicaSet      MongoServer = "replica-set"
	Sharded         MongoServer = "sharded"
	LoadBalanced    MongoServer = "load-balanced"
	Standalone      MongoServer = "standalone"
	WithoutSessions MongoServer = "without-sessions" // Amazon DocumentDB, Azure Cosmos DB and others
)

// MongoServers returns the kinds of deployments.
func MongoServers() []MongoServer {
	return []MongoServer{ReplicaSet, Sharded, LoadBalanced, Standalone, WithoutSessions}
}

// MongoServerNamed returns the kind with a name.
func MongoServerNamed(name string) (MongoServer, error) {
	var names []string
	for _, s := range MongoServers() {
		if strings.EqualFold(name, string(s)) {
			return s, nil
		}
		names = append(names, string(s))
	}
	return "", unknownName("server", name, names)
}

// LabelsErrors reports whether a server of a version, "4.2" for example, adds the label RetryableWriteError itself: from 4.4 on.
func LabelsErrors(version string) (bool, error) {
	major, minor, _ := strings.Cut(version, ".")
	minor, _, _ = strings.Cut(minor, ".")
	a, errMajor := strconv.Atoi(major)
	b, errMinor := strconv.Atoi(minor)
	if errMajor != nil || errMinor != nil {
		return false, fmt.Errorf("the version is %q; it must be a version such as 4.2", version)
	}
	if a < 3 || a == 3 && b < 6 {
		return false, fmt.Errorf("the version is %q; the client needs 3.6 or later", version)
	}
	return a > 4 || a == 4 && b >= 4, nil
}
