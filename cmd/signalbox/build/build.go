// Package build tells what this program was built from.
package build

import "runtime/debug"

// Version is the program's version; where none was given at build time ("dev"), what Go knows of it.
func Version(version string) string {
	info, ok := debug.ReadBuildInfo()
	if version != "dev" || !ok {
		return version
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	return version
}

// Revision is the commit that this program was built from, as the Go tool noted it.
func Revision() string {
	info, _ := debug.ReadBuildInfo()
	if info != nil {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}
