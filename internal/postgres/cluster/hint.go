package cluster

import (
	"cmp"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// InstallHint tells in a few words how to install Postgres on this machine;
// major 0 means any version.
func InstallHint(major int) string {
	version := ""
	if major != 0 {
		version = strconv.Itoa(major)
	}
	if runtime.GOOS == "darwin" {
		version = cmp.Or(version, "17")
		return "install it with `brew install postgresql@" + version + "`"
	}
	release, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return "install your system's package of the Postgres server"
	}
	return packageHint(string(release), version)
}

// packageHint picks the package manager from the text of /etc/os-release.
func packageHint(release, version string) string {
	var like string
	for line := range strings.Lines(release) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if key == "ID" || key == "ID_LIKE" {
			like += " " + strings.Trim(value, `"'`)
		}
	}
	dashed, archive := "", ""
	if version != "" {
		// Each release has one version; the archive has them all.
		dashed, archive = "-"+version, " (from apt.postgresql.org if your system does not have it)"
	}
	hints := []struct{ family, command, source string }{
		{"alpine", "apk add postgresql" + version, ""},
		{"arch", "pacman -S postgresql", ""},
		{"suse", "zypper install postgresql" + version + "-server", ""},
		{"fedora", "dnf install postgresql" + version + "-server", ""},
		{"rhel", "dnf install postgresql" + version + "-server", ""},
		{"debian", "apt-get install postgresql" + dashed, archive},
	}
	for _, h := range hints {
		if strings.Contains(like, h.family) {
			return "install it with `" + h.command + "`" + h.source
		}
	}
	return "install your system's package of the Postgres server"
}
