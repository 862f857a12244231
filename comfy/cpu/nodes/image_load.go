package nodes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/signalbox/signalbox/comfy/cpu/codec"
	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/tensor"
)

// maxFile bounds what is read of one picture file.
const maxFile = 256 << 20

func imageLoadNodes() []node.Node {
	return []node.Node{loadImage(), loadImageMask(), loadImageOutput(), webcamCapture()}
}

// pictureExtensions are the file names that loaders offer.
var pictureExtensions = map[string]bool{
	".png": true, ".jpg": true, ".jpeg": true, ".gif": true, ".webp": true, ".bmp": true, ".tif": true, ".tiff": true, ".apng": true,
}

func isPicture(name string) bool { return pictureExtensions[strings.ToLower(path.Ext(name))] }

func inputPictures(f *node.Files) []string { return f.List(node.InFolder, isPicture) }

// readFile reads a file as loaders name it: "name", "name [output]" or "name [temp]".
func readFile(f *node.Files, name string) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, node.Raise("FileNotFoundError", "cannot open %q: %v", name, err)
	}
	defer file.Close()
	return readBounded(file, name)
}

func readBounded(r io.Reader, name string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", name, err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%q is larger than %d bytes", name, maxFile)
	}
	return data, nil
}

// pictureExists is the validation of loaders.
func pictureExists(c *node.Call) error {
	name, ok := c.Value("image").(string)
	if !ok || c.Files.Exists(name) {
		return nil
	}
	return node.ValueError("Invalid image file: %s", name)
}

// pictureDigest changes when the file named by an input changes.
func pictureDigest(input string) func(c *node.Call) (string, error) {
	return func(c *node.Call) (string, error) {
		name, _ := c.Value(input).(string)
		if strings.TrimSpace(name) == "" || !c.Files.Exists(name) {
			return "", nil
		}
		data, err := readFile(c.Files, name)
		if err != nil {
			return "", err
		}
		sum := sha256.Sum256(data)
		return hex.EncodeToString(sum[:]), nil
	}
}

// decodeInput reads all frames of the picture that the input names.
func decodeInput(c *node.Call, input string) (*tensor.Image, *tensor.Mask, error) {
	data, err := readFile(c.Files, c.Text(input))
	if err != nil {
		return nil, nil, err
	}
	m, mask, err := codec.Decode(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%q: %w", c.Text(input), err)
	}
	if err := c.CheckSize(m.B, m.H, m.W); err != nil {
		return nil, nil, err
	}
	return m, mask, nil
}

func runLoad(_ context.Context, c *node.Call) (*node.Result, error) {
	m, mask, err := decodeInput(c, "image")
	if err != nil {
		return nil, err
	}
	return node.Out(m, mask), nil
}

func loadImage() node.Node {
	return node.Node{
		Spec: node.Spec{
			Class: "LoadImage", DisplayName: "Load Image", Category: "image", Module: "nodes", Legacy: true, Essentials: "Basics",
			Description:   "Reads a picture with all its frames. The mask is its transparency; 64 x 64 zeros when it has none.",
			SearchAliases: []string{"load image", "open image", "import image", "image input", "upload image", "read image", "image loader"},
			Required:      []node.Input{node.OldCombo("image").From(inputPictures).With("image_upload", true)},
			Outputs:       node.Outs("IMAGE", "MASK"),
		},
		Run:         runLoad,
		Validate:    pictureExists,
		Checks:      []string{"image"},
		Fingerprint: pictureDigest("image"),
	}
}

func loadImageOutput() node.Node {
	return node.Node{
		Spec: node.Spec{
			Class: "LoadImageOutput", DisplayName: "Load Image (from Outputs)", Category: "image", Module: "nodes", Legacy: true, Essentials: "Basics",
			Description:   "Reads a picture, as a rule one made earlier: \"name [output]\".",
			SearchAliases: []string{"output image", "previous generation"},
			Required: []node.Input{
				node.Input{Name: "image", Type: node.TypeCombo}.With("image_upload", true).With("image_folder", "output").With("remote", map[string]any{"route": "/internal/files/output", "refresh_button": true, "control_after_refresh": "first"}),
			},
			Outputs:      node.Outs("IMAGE", "MASK"),
			Experimental: true,
		},
		Run:         runLoad,
		Validate:    pictureExists,
		Checks:      []string{"image"},
		Fingerprint: pictureDigest("image"),
	}
}

func loadImageMask() node.Node {
	channels := map[string]int{"red": 0, "green": 1, "blue": 2}
	n := maskNode(node.Spec{
		Class: "LoadImageMask", DisplayName: "Load Image (as Mask)", Category: "image", Module: "nodes", Legacy: true, Essentials: "Image Tools",
		Description:   "Reads one channel of a picture as a mask; alpha gives what is transparent.",
		SearchAliases: []string{"import mask", "alpha mask", "channel mask"},
		Required: []node.Input{
			node.OldCombo("image").From(inputPictures).With("image_upload", true),
			node.OldCombo("channel", "alpha", "red", "green", "blue"),
		},
	}, func(c *node.Call) (*tensor.Mask, error) {
		m, alpha, err := decodeInput(c, "image")
		if err != nil || c.Text("channel") == "alpha" {
			return alpha, err
		}
		return m.Channel(channels[c.Text("channel")]), nil
	})
	n.Validate, n.Checks, n.Fingerprint = pictureExists, []string{"image"}, pictureDigest("image")
	return n
}

// decodeStill reads the first frame with four channels.
func decodeStill(c *node.Call, name string) (*tensor.Image, error) {
	data, err := readFile(c.Files, name)
	if err != nil {
		return nil, err
	}
	m, err := codec.DecodeStill(data)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", name, err)
	}
	return m, c.CheckSize(m.B, m.H, m.W)
}

func webcamCapture() node.Node {
	n := imageNode(node.Spec{
		Class: "WebcamCapture", DisplayName: "Webcam Capture", Category: "image", Module: "comfy_extras.nodes_webcam", Legacy: true, Essentials: "Basics",
		Description:   "Reads a picture that the page took with the camera and uploaded.",
		SearchAliases: []string{"camera input", "live capture", "camera feed", "snapshot"},
		Required: []node.Input{
			node.Socket("image", "WEBCAM").Braces(),
			node.Int("width").Default(0).Range(0, 16384).Step(1),
			node.Int("height").Default(0).Range(0, 16384).Step(1),
			node.Bool("capture_on_queue").Default(true),
		},
	}, func(c *node.Call) (*tensor.Image, error) {
		if _, ok := c.Value("image").(string); !ok {
			return nil, errors.New("the captured picture must be the name of an uploaded file")
		}
		m, _, err := decodeInput(c, "image")
		return m, err
	})
	n.Fingerprint = pictureDigest("image")
	return n
}
