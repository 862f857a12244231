package assets

import (
	"bufio"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math"

	"github.com/gabriel-vasile/mimetype"
	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"
)

// headerLimit is how far into a file an image's size is looked for. Cameras put
// previews and colour profiles of some hundred kilobytes before it.
const headerLimit = 4 << 20

// facts is what the bytes themselves tell.
type facts struct {
	mime          string
	width, height int // 0 when unknown
}

// Extension gives the extension of files of a media type, with its dot; empty where there is none.
func Extension(mediaType string) string {
	known := mimetype.Lookup(mediaType)
	if known == nil {
		return ""
	}
	return known.Extension()
}

// sniff looks at content from its start. It never decodes pixels, so a small
// file that claims a huge size costs nothing. Content it does not know is
// "application/octet-stream" or "text/plain; charset=utf-8".
func sniff(content io.ReadSeeker) (facts, error) {
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return facts{}, err
	}
	detected, err := mimetype.DetectReader(content)
	if err != nil {
		return facts{}, err
	}
	found := facts{mime: detected.String()}
	decode := headerDecoder(found.mime)
	if decode == nil {
		return found, nil
	}
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return facts{}, err
	}
	// A broken image is stored all the same; its size is just unknown.
	config, err := decode(bufio.NewReader(io.LimitReader(content, headerLimit)))
	if err == nil && validSize(config) {
		found.width, found.height = config.Width, config.Height
	}
	return found, nil
}

// headerDecoder reads the size of images of one type, nil for other content.
func headerDecoder(mime string) func(io.Reader) (image.Config, error) {
	switch mime {
	case "image/png", "image/apng":
		return png.DecodeConfig
	case "image/jpeg":
		return jpeg.DecodeConfig
	case "image/gif":
		return gif.DecodeConfig
	case "image/webp":
		return webp.DecodeConfig
	case "image/bmp":
		return bmp.DecodeConfig
	case "image/tiff":
		return tiff.DecodeConfig
	}
	return nil
}

// validSize reports whether the size fits the table.
func validSize(c image.Config) bool {
	return c.Width > 0 && c.Height > 0 && c.Width <= math.MaxInt32 && c.Height <= math.MaxInt32
}
