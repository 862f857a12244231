package botapi

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"
)

// MaxDownload is the largest file the cloud server hands to bots, in bytes; MaxUpload and MaxPhoto are
// what it takes from them.
const (
	MaxDownload = 20 << 20
	MaxUpload   = 50 << 20
	MaxPhoto    = 10 << 20
	// MaxPhotoByURL is the largest photo that the service fetches from an address.
	MaxPhotoByURL = 5 << 20
)

// A photo's width and height together, and the longer side by the shorter, are bounded too.
const (
	MaxPhotoSides = 10_000
	MaxPhotoRatio = 20
)

// downloadMethod names file downloads in errors and metrics.
const downloadMethod = "download"

// InputFile is a file to send: one the service already has, one at a public address, or new bytes.
// Exactly one of FileID, URL and Open is set.
type InputFile struct {
	FileID string
	URL    string
	// Name is the file name people see; its extension decides how apps treat a document.
	Name string
	// Open returns the bytes from the start; it is called once for every attempt.
	Open func() (io.ReadCloser, error)
}

// FileRef makes an InputFile of a file the service already has.
func FileRef(fileID string) InputFile { return InputFile{FileID: fileID} }

// reference is the value of a parameter for a file that is not uploaded.
func (f InputFile) reference() string { return f.FileID + f.URL }

// upload is a file that goes into the request as the part field.
type upload struct {
	field string
	file  InputFile
}

// openAll opens the uploads for one attempt. closeAll is never nil; the library closes what it has read to
// the end, and closing twice does no harm.
func openAll(uploads []upload) (parts []tgbotapi.RequestFile, closeAll func(), err error) {
	var open []io.Closer
	closeAll = func() {
		for _, c := range open {
			_ = c.Close()
		}
	}
	for _, u := range uploads {
		r, err := u.file.Open()
		if err != nil {
			return nil, closeAll, fmt.Errorf("file %q: %w", u.file.Name, err)
		}
		open = append(open, r)
		name := cmp.Or(u.file.Name, "file")
		parts = append(parts, tgbotapi.RequestFile{Name: u.field, Data: tgbotapi.FileReader{Name: name, Reader: r}})
	}
	return parts, closeAll, nil
}

// File is what getFile tells of a file.
type File struct {
	FileID   string `json:"file_id"`
	UniqueID string `json:"file_unique_id"`
	Size     int64  `json:"file_size"`
	Path     string `json:"file_path"`
}

// GetFile asks where a file can be downloaded; the place is good for an hour at least. Files over
// MaxDownload are refused with TooLarge.
func (c *Client) GetFile(ctx context.Context, fileID string) (File, error) {
	return do[File](ctx, c, "getFile", map[string]string{"file_id": fileID})
}

// Download fetches a file of at most limit bytes into memory; a larger one is refused with TooLarge.
// The library's own links point at the cloud whatever the endpoint, so the address is made here.
func (c *Client) Download(ctx context.Context, fileID string, limit int64) ([]byte, File, error) {
	f, err := c.GetFile(ctx, fileID)
	if err != nil {
		return nil, f, err
	}
	tooLarge := &Error{Method: downloadMethod, Code: http.StatusRequestEntityTooLarge, Description: fmt.Sprintf("file is too big: over %d bytes", limit)}
	if f.Size > limit {
		return nil, f, tooLarge
	}
	data, err := c.fetch(ctx, f.Path, limit+1)
	if err == nil && int64(len(data)) > limit {
		err = tooLarge
	}
	if err != nil {
		return nil, f, err
	}
	return data, f, nil
}

func (c *Client) fetch(ctx context.Context, path string, limit int64) (data []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.uploadTimeout)
	defer cancel()
	x := &exchange{client: c, ctx: ctx, method: downloadMethod}
	start := time.Now()
	defer func() { c.observe(CallInfo{Method: x.method, Code: x.status, Took: time.Since(start)}) }()
	if strings.HasPrefix(path, "/") || strings.Contains(path, "..") {
		return nil, &Error{Method: x.method, Description: "the server keeps files on its own disk (--local); files of such a server cannot be read from here"}
	}
	address := c.base + "/file/bot" + c.token.reveal() + "/" + (&url.URL{Path: path}).EscapedPath()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, c.failure(x, nil, err)
	}
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return nil, c.failure(x, nil, err)
	}
	defer func() { _ = resp.Body.Close() }()
	x.status = resp.StatusCode
	if resp.StatusCode != http.StatusOK {
		return nil, &Error{Method: x.method, Code: resp.StatusCode, Description: http.StatusText(resp.StatusCode)}
	}
	data, err = io.ReadAll(io.LimitReader(resp.Body, limit))
	if err != nil {
		return nil, c.failure(x, nil, err)
	}
	return data, nil
}
