package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/semver"
)

// release is one release under way.
type release struct {
	ctx           context.Context //nolint:containedctx // it lives as long as the release
	root, version string
	out           string
	dryRun        bool
	platforms     []platform
	// vulnerabilities looks for known vulnerabilities of the module in a folder.
	vulnerabilities func(ctx context.Context, root, dir string) (found bool, report string, err error)
	log             io.Writer

	last    string   // the last tag, "" if there is none
	changes string   // the version's section of the changelog
	clone   string   // a clone of the repository with the tags
	plugins []string // the folders of the plugins
}

// make makes the release.
func (r *release) make() error {
	temp, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	r.clone = filepath.Join(temp, "clone")
	for _, step := range []func() error{r.checkTree, r.checkVersion, r.checkChangelog, r.checkScheduled, r.makeClone, r.compareAPI, r.checkVulnerabilities, r.build, r.makePlugins, r.tag} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) say(format string, v ...any) { fmt.Fprintf(r.log, format+"\n", v...) }

// checkTree refuses a working tree with changes: they would not be in the release.
func (r *release) checkTree() error {
	changed, err := command(r.ctx, r.root, "git", "status", "--porcelain")
	if err == nil && changed != "" {
		err = fmt.Errorf("the working tree has changes:\n%s", changed)
	}
	return err
}

// checkVersion refuses a version that is malformed, that is not above the last one, or that needs another module path.
func (r *release) checkVersion() error {
	switch {
	case !semver.IsValid(r.version) || semver.Canonical(r.version) != r.version:
		return fmt.Errorf("the version is %q; it must be v, a major, a minor and a patch number, for example v0.1.0", r.version)
	case semver.Compare(semver.Major(r.version), "v1") > 0:
		return fmt.Errorf("the version is %s; from v2 on the module's path must end with the major version", r.version)
	}
	tags, err := command(r.ctx, r.root, "git", "tag", "--merged", "HEAD")
	if err != nil {
		return err
	}
	r.last = newest(tags)
	if r.last != "" && semver.Compare(r.version, r.last) <= 0 {
		return fmt.Errorf("the version is %s; it must be above the last one, %s", r.version, r.last)
	}
	return nil
}

// makeClone clones the repository and tags the clone, so that binaries built there have the version in them, and nothing that is not
// committed.
func (r *release) makeClone() error {
	if _, err := command(r.ctx, r.root, "git", "clone", "--quiet", "--no-hardlinks", r.root, r.clone); err != nil {
		return err
	}
	return r.tagIn(r.clone, r.version)
}

// checkVulnerabilities ends the release if the module has a known vulnerability. It goes on, and says so, if that cannot be found out.
func (r *release) checkVulnerabilities() error {
	found, report, err := r.vulnerabilities(r.ctx, r.root, r.clone)
	switch {
	case r.ctx.Err() != nil:
		return r.ctx.Err()
	case err != nil:
		r.say("Known vulnerabilities were NOT looked for: %v", err)
	case found:
		return fmt.Errorf("known vulnerabilities:\n%s", report)
	default:
		r.say("No known vulnerabilities.")
	}
	return nil
}

// tag makes the annotated tags.
func (r *release) tag() error {
	tags := strings.Join(append([]string{r.version}, r.pluginTags()...), " ")
	if r.dryRun {
		r.say("Dry run: the tags %s were not made.", tags)
		return nil
	}
	if err := r.fetchPlugins(); err != nil {
		return err
	}
	if err := r.tagIn(r.root, r.version); err != nil {
		return err
	}
	r.say("Tagged. Publish it by: git push origin %s", tags)
	return nil
}

func (r *release) tagIn(dir, name string) error {
	if r.changes == "" {
		return errors.New("the changelog was not read")
	}
	message := "holdfast " + name + "\n\n" + r.changes + "\n"
	_, err := command(r.ctx, dir, "git", "tag", "--annotate", "--cleanup=verbatim", "--message", message, name)
	return err
}
