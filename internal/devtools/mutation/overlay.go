package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
)

// writeOverlay writes changed files into a folder, and the file that makes the go command see them in place of the originals. changed
// has the text of each by the absolute name of the original.
func writeOverlay(folder string, changed map[string][]byte) (string, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for original, text := range changed {
		written := filepath.Join(folder, strconv.Itoa(len(replace))+".go")
		if err := os.WriteFile(written, text, 0o600); err != nil {
			return "", err
		}
		replace[original] = written
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(folder, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}
