//go:build unix

package postgres

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/xi2/xz"

	"github.com/signalbox/signalbox/internal/postgres/cluster"
)

const (
	// publicMirror is where the zonky project publishes relocatable builds of
	// Postgres, packed as Java archives.
	publicMirror = "https://repo1.maven.org/maven2"
	// newestBuild is the major version fetched for new data.
	newestBuild = 18
	// downloadLimit bounds the whole fetch, on a slow line too.
	downloadLimit = 15 * time.Minute
	// archiveLimit, extractLimit and entryLimit bound what is taken from a
	// mirror, in bytes and files. The real archives have some 10 MB, 60 MB and 1500.
	archiveLimit = 200 << 20
	extractLimit = 1 << 30
	entryLimit   = 20_000
)

// builds are the releases to fetch for each major version.
var builds = map[int]string{15: "15.13.0", 16: "16.9.0", 17: "17.5.0", 18: "18.3.0"}

// Download says how to fetch the server programs where none are installed. Its
// zero value fetches from the public archive.
type Download struct {
	// MirrorURL replaces the public Maven archive by one of the same layout.
	MirrorURL string
	// CacheDir keeps what was fetched. Empty means the user's cache folder, or
	// /var/cache/signalbox for root when others cannot enter that.
	CacheDir string
	// Logger is told of a fetch; nil means nobody is. Start fills in its own.
	Logger *slog.Logger
	// Progress is called when a fetch begins, with its size in bytes, -1 where
	// that is not known; what arrives is written to what it gives. nil means
	// nobody watches.
	Progress func(bytes int64) io.Writer
	// Client fetches; nil means a client of our own with sensible limits.
	Client *http.Client
}

// findOrFetch returns the programs on this machine, of version major unless
// that is 0, or else those fetched now or earlier.
func findOrFetch(ctx context.Context, major int, user cluster.User, d Download) (cluster.Binaries, error) {
	found, err := cluster.Find(ctx, major)
	if !errors.Is(err, cluster.ErrNoBinaries) {
		return found, err
	}
	return d.insteadOf(ctx, err, major, user)
}

// insteadOf fetches what Find, as missing tells, did not find.
func (d Download) insteadOf(ctx context.Context, missing error, major int, user cluster.User) (cluster.Binaries, error) {
	if _, known := builds[major]; major != 0 && !known {
		return cluster.Binaries{}, fmt.Errorf("%w: the data needs Postgres %d: install that version, or move the data with pg_upgrade or pg_dump (%w)",
			cluster.ErrForeignVersion, major, missing)
	}
	fetched, err := d.fetch(ctx, major, user)
	switch {
	case err == nil:
		return fetched, nil
	case major != 0:
		return cluster.Binaries{}, fmt.Errorf("%w: the data needs Postgres %d (%w), and fetching that failed (%w): %s, or move the data with pg_upgrade or pg_dump",
			cluster.ErrForeignVersion, major, missing, err, cluster.InstallHint(major))
	case missing != cluster.ErrNoBinaries:
		major = newestBuild // the system's own package may be the one that is too old
	}
	return cluster.Binaries{}, fmt.Errorf("%w, and fetching them failed (%w): %s, or set DATABASE_URL", missing, err, cluster.InstallHint(major))
}

// fetch returns the cached programs of version major, the newest for 0, after
// downloading them if need be.
func (d Download) fetch(ctx context.Context, major int, user cluster.User) (cluster.Binaries, error) {
	major = cmp.Or(major, newestBuild)
	cache, err := d.cacheDir(user)
	if err != nil {
		return cluster.Binaries{}, err
	}
	build := builds[major]
	platform, err := platform()
	if err != nil {
		return cluster.Binaries{}, err
	}
	dir := filepath.Join(cache, "postgres-"+build+"-"+platform)
	if b, err := cluster.Probe(ctx, filepath.Join(dir, "bin")); err == nil {
		return b, nil
	}
	url := d.archiveURL(platform, build)
	if d.Logger != nil {
		d.Logger.InfoContext(ctx, "no suitable Postgres on this machine, fetching it once", "version", build, "url", url, "to", dir)
	}
	if err := d.install(ctx, cache, dir, url); err != nil {
		return cluster.Binaries{}, err
	}
	return cluster.Probe(ctx, filepath.Join(dir, "bin"))
}

// platform is the archive's name for this machine.
func platform() (string, error) {
	arch, known := map[string]string{"amd64": "amd64", "arm64": "arm64v8", "ppc64le": "ppc64le"}[runtime.GOARCH]
	if !known || runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		return "", fmt.Errorf("there is no build for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	if _, err := os.Stat("/etc/alpine-release"); err == nil {
		// Alpine has another C library.
		arch += "-alpine"
	}
	return runtime.GOOS + "-" + arch, nil
}

func (d Download) archiveURL(platform, build string) string {
	mirror := cmp.Or(d.MirrorURL, publicMirror)
	artifact := "embedded-postgres-binaries-" + platform
	return strings.TrimRight(mirror, "/") + "/io/zonky/test/postgres/" + artifact + "/" + build + "/" + artifact + "-" + build + ".jar"
}

// cacheDir returns a folder that the server's user can enter.
func (d Download) cacheDir(user cluster.User) (string, error) {
	dir := d.CacheDir
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no cache folder: %w", err)
		}
		dir = filepath.Join(base, "signalbox")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if user.CanReach(dir) {
		return dir, nil
	}
	// Programs, unlike data, are looked up by path, so their folder must be open.
	dir = "/var/cache/signalbox"
	return dir, os.MkdirAll(dir, 0o755)
}

// install downloads the archive at url and unpacks it as dir, which appears
// only when it is whole.
func (d Download) install(ctx context.Context, cache, dir, url string) error {
	ctx, cancel := context.WithTimeout(ctx, downloadLimit)
	defer cancel()
	work, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	archive := filepath.Join(work, "archive.jar")
	sum, err := d.save(ctx, url, archive)
	if err != nil {
		return err
	}
	want, err := d.checksum(ctx, url+".sha256")
	if err != nil {
		return err
	}
	if sum != want {
		return fmt.Errorf("%s has SHA-256 %s, but its mirror promises %s: the download is damaged", url, sum, want)
	}
	unpacked := filepath.Join(work, "unpacked")
	if err := unpack(archive, unpacked); err != nil {
		return fmt.Errorf("unpack %s: %w", url, err)
	}
	return moveInto(unpacked, dir)
}

// moveInto puts a finished folder in its place, where another program may have
// put the same one in the meantime.
func moveInto(finished, dir string) error {
	err := os.Rename(finished, dir)
	if _, statErr := os.Stat(filepath.Join(dir, "bin", "postgres")); err != nil && statErr == nil {
		return nil
	}
	return err
}

// save stores what url serves in path and returns its SHA-256 in hex.
func (d Download) save(ctx context.Context, url, path string) (string, error) {
	response, err := d.get(ctx, url)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	sinks := io.MultiWriter(f, sum)
	if d.Progress != nil {
		sinks = io.MultiWriter(sinks, d.Progress(response.ContentLength))
	}
	n, err := io.Copy(sinks, io.LimitReader(response.Body, archiveLimit+1))
	if err == nil && n > archiveLimit {
		err = fmt.Errorf("larger than %d MB", archiveLimit>>20)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("GET %s: %w", url, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// checksum reads the hex digest that stands beside an archive.
func (d Download) checksum(ctx context.Context, url string) (string, error) {
	response, err := d.get(ctx, url)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(response.Body, 1024))
	if err != nil {
		return "", fmt.Errorf("GET %s: %w", url, err)
	}
	// Some mirrors add the file's name after the digest.
	digest, _, _ := strings.Cut(strings.TrimSpace(string(raw)), " ")
	if decoded, err := hex.DecodeString(digest); err != nil || len(decoded) != sha256.Size {
		return "", fmt.Errorf("GET %s: no SHA-256 in the answer", url)
	}
	return strings.ToLower(digest), nil
}

func (d Download) get(ctx context.Context, url string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	client := d.Client
	if client == nil {
		client = defaultClient()
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, fmt.Errorf("GET %s: %s", url, response.Status)
	}
	return response, nil
}

// defaultClient fails soon where there is no network. It goes through the
// environment's proxy like other programs.
func defaultClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second,
		DisableKeepAlives:     true,
	}}
}

// unpack extracts the one .txz inside the archive to dir.
func unpack(archive, dir string) error {
	outer, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer outer.Close()
	for _, entry := range outer.File {
		if path.Ext(entry.Name) != ".txz" {
			continue
		}
		packed, err := entry.Open()
		if err != nil {
			return err
		}
		defer packed.Close()
		return untar(packed, dir)
	}
	return errors.New("it holds no .txz file")
}

// untar extracts an xz-compressed tar file. No entry can reach outside of dir.
func untar(packed io.Reader, dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	// The second argument bounds the memory for the dictionary.
	plain, err := xz.NewReader(packed, 128<<20)
	if err != nil {
		return err
	}
	entries := tar.NewReader(io.LimitReader(plain, extractLimit))
	for range entryLimit {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := extract(root, header, entries); err != nil {
			return fmt.Errorf("%s: %w", header.Name, err)
		}
	}
	return fmt.Errorf("more than %d files", entryLimit)
}

func extract(root *os.Root, header *tar.Header, content io.Reader) error {
	name := path.Clean(header.Name)
	switch header.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(name, 0o755)
	case tar.TypeSymlink:
		if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
		return root.Symlink(header.Linkname, name)
	case tar.TypeReg:
		if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
		return writeFile(root, name, fs.FileMode(header.Mode).Perm()&0o755|0o444, content)
	default:
		return nil
	}
}

func writeFile(root *os.Root, name string, mode fs.FileMode, content io.Reader) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}
