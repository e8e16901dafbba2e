package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// platform is an operating system and an architecture.
type platform struct{ os, arch string }

var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}}

// binary returns the name of the program for a platform.
func (r *release) binary(p platform) string {
	name := fmt.Sprintf("holdfast_%s_%s_%s", r.version, p.os, p.arch)
	if p.os == "windows" {
		name += ".exe"
	}
	return name
}

// build builds the program for all platforms, and writes the checksums.
func (r *release) build() error {
	out := r.out
	if !filepath.IsAbs(out) {
		out = filepath.Join(r.root, out)
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var sums strings.Builder
	for _, p := range r.platforms {
		sum, err := r.buildFor(p, filepath.Join(out, r.binary(p)))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sum, r.binary(p))
	}
	r.say("Built for %d platforms into %s:\n%s", len(r.platforms), out, sums.String())
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

// buildFor builds the program for one platform and returns its checksum. The binary must have the version in it.
func (r *release) buildFor(p platform, file string) ([]byte, error) {
	env := []string{"CGO_ENABLED=0", "GOOS=" + p.os, "GOARCH=" + p.arch, "GOWORK=off"}
	if _, err := commandWith(r.ctx, r.clone, env, "go", "build", "-trimpath", "-buildvcs=true", "-o", file, "./cmd/holdfast"); err != nil {
		return nil, err
	}
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if info.Main.Version != r.version {
		return nil, fmt.Errorf("%s has the version %q in it, not %s", file, info.Main.Version, r.version)
	}
	b, err := os.ReadFile(file)
	sum := sha256.Sum256(b)
	return sum[:], err
}
