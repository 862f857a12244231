package knowledge

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
)

// maxDepth is how many folders a file in an archive may be in: each of them costs memory when the archive is opened.
const maxDepth = 32

// entryMark begins the entry of each file in the list of an archive (APPNOTE 4.3.12).
const entryMark = "PK\x01\x02"

// unzip reads the list of an archive that somebody sent. Its files are read later, one by one.
func unzip(data []byte) (*zip.Reader, error) {
	if bytes.Count(data, []byte(entryMark)) > maxFiles {
		return nil, tooMany()
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err == nil {
		err = checkArchive(archive)
	}
	return archive, err
}

// openZip is unzip for an archive in the house's own folder.
func openZip(path string) (*zip.ReadCloser, error) {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return nil, err
	}
	if err := checkArchive(&archive.Reader); err != nil {
		archive.Close()
		return nil, err
	}
	return archive, nil
}

// checkArchive refuses archives whose list would cost more than their files, and sizes that are none.
func checkArchive(archive *zip.Reader) error {
	if len(archive.File) > maxFiles {
		return tooMany()
	}
	for _, f := range archive.File {
		switch {
		case f.FileInfo().Size() < 0:
			return fmt.Errorf("%.60q: its size in the archive is none", f.Name)
		case strings.Count(f.Name, "/") > maxDepth:
			return fmt.Errorf("%.60q: it is in more than %d folders", f.Name, maxDepth)
		}
	}
	return nil
}

func tooMany() error { return fmt.Errorf("more than %d files are in the archive", maxFiles) }
