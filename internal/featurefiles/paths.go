package featurefiles

import "path/filepath"

// Paths lists the files that a request names, as far as they can be found: what a command must not overwrite.
func Paths(req Request) []string {
	files := req.Files
	var out []string
	if c, err := fromCapture(&req); err == nil && c != nil {
		files = nil
		for _, name := range []string{captureInfo, "weight.npy", "bias.npy"} {
			out = append(out, filepath.Join(c.folder, name))
		}
		for _, stream := range c.streams {
			shards, _ := c.shards(stream) // Open reports what cannot be listed
			out = append(out, shards...)
		}
	}
	for _, patterns := range append(req.From[:], files) {
		for _, p := range patterns {
			found, _ := filesOf(Features, []string{p}) // the role is for messages alone
			out = append(out, found...)
		}
	}
	return out
}
