package main

import (
	"path"
	"path/filepath"
	"strings"
)

// makePlugins makes the modules below plugin as they are published, in the clone. In the repository they require a version of the main module that
// does not exist, and replace it by the folder above; a module that users require must name the version of this release instead. So their tags
// are on a commit of their own, which follows the release and is on no branch.
func (r *release) makePlugins() error {
	files, err := command(r.ctx, r.clone, "git", "ls-files", "plugin/*/go.mod")
	if err != nil || files == "" {
		return err
	}
	main, err := command(r.ctx, r.clone, "go", "list", "-m")
	if err != nil {
		return err
	}
	for file := range strings.FieldsSeq(files) {
		r.plugins = append(r.plugins, path.Dir(file))
		if _, err := command(r.ctx, filepath.Join(r.clone, path.Dir(file)), "go", "mod", "edit", "-require="+main+"@"+r.version, "-dropreplace="+main); err != nil {
			return err
		}
	}
	if _, err := command(r.ctx, r.clone, "git", "commit", "--quiet", "--all", "--message", "plugin: the modules require "+r.version); err != nil {
		return err
	}
	for _, tag := range r.pluginTags() {
		if err := r.tagIn(r.clone, tag); err != nil {
			return err
		}
	}
	return nil
}

// pluginTags are the tags by which the go command finds the version of a module in a folder: "plugin/x/v0.1.0".
func (r *release) pluginTags() (tags []string) {
	for _, folder := range r.plugins {
		tags = append(tags, folder+"/"+r.version)
	}
	return tags
}

// fetchPlugins brings the plugins' tags, with their commit, into the repository.
func (r *release) fetchPlugins() error {
	if len(r.plugins) == 0 {
		return nil
	}
	args := []string{"fetch", "--quiet", "--no-tags", r.clone}
	for _, tag := range r.pluginTags() {
		args = append(args, "refs/tags/"+tag+":refs/tags/"+tag)
	}
	_, err := command(r.ctx, r.root, "git", args...)
	return err
}
