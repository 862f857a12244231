package discordtest

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif"  // decode sizes of uploaded pictures
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"mime"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	_ "golang.org/x/image/webp" // likewise
)

// File is a file that a person or the bot uploads.
type File struct {
	Name  string
	Bytes []byte
	// Description is the alternative text.
	Description string
	// ContentType is what the uploader claimed; empty: by the name.
	ContentType string
}

// attachment is an uploaded file.
type attachment struct {
	s           *Server
	id          string
	name        string
	description string
	kind        string
	data        []byte
	width       int
	height      int
	title       string
	spoiler     bool
	channel     *Channel
	message     *message // nil while it is only an option's value
	private     bool     // of an ephemeral message or a command's option
}

const (
	maxAttachments = 10
	linkLife       = 24 * time.Hour
)

// keep stores a file and needs s.mu.
func (s *Server) keep(c *Channel, f File, private bool) *attachment {
	a := &attachment{
		s: s, id: s.newID(), name: safeName(f.Name), description: f.Description, data: f.Bytes, channel: c, private: private,
		kind: kindOf(f), spoiler: hasPrefix(f.Name, "SPOILER_"),
	}
	if cfg, _, err := image.DecodeConfig(bytes.NewReader(f.Bytes)); err == nil {
		a.width, a.height = cfg.Width, cfg.Height
	}
	s.attachments[a.id] = a
	return a
}

var oddInName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// safeName is what the service makes of a file's name: the parts an address can hold.
func safeName(name string) string {
	return strings.Trim(oddInName.ReplaceAllString(path.Base(name), "_"), "_. ")
}

func kindOf(f File) string {
	switch ext := strings.ToLower(path.Ext(f.Name)); ext {
	case ".glb":
		return "model/gltf-binary"
	case ".mp4":
		return "video/mp4"
	case ".mp3":
		return "audio/mpeg"
	case ".ogg":
		return "audio/ogg"
	case ".flac":
		return "audio/flac"
	case ".wav":
		return "audio/wav"
	default:
		if kind := mime.TypeByExtension(ext); kind != "" {
			return kind
		}
	}
	if f.ContentType != "" {
		return f.ContentType
	}
	return http.DetectContentType(f.Bytes)
}

func (a *attachment) wire() map[string]any {
	w := map[string]any{
		"id": a.id, "filename": a.name, "size": len(a.data), "url": a.url(), "proxy_url": a.url(), "content_type": a.kind, "flags": 0,
	}
	if a.description != "" {
		w["description"] = a.description
	}
	if a.title != "" {
		w["title"] = a.title
	}
	if a.width > 0 {
		w["width"], w["height"] = a.width, a.height
	}
	if a.private {
		w["ephemeral"] = true
	}
	return w
}

func (m *message) attachmentWires() []any {
	out := []any{}
	for _, a := range m.attachments {
		out = append(out, a.wire())
	}
	return out
}

// url is the signed address, good for a day.
func (a *attachment) url() string {
	folder := "attachments"
	if a.private {
		folder = "ephemeral-attachments"
	}
	until := a.s.now().Add(linkLife).Unix()
	return fmt.Sprintf("%s/%s/%s/%s/%s?ex=%x&is=%x&hm=%s&", a.s.URL, folder, a.channel.id, a.id, url.PathEscape(a.name), until, until-86400, a.seal(until))
}

// seal stands for the signature of an address.
func (a *attachment) seal(until int64) string {
	return fmt.Sprintf("%x", until^int64(len(a.data))<<8^int64(len(a.name)))
}

func (s *Server) serveAttachment(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	s.mu.Lock()
	var a *attachment
	if len(parts) == 4 {
		a = s.attachments[parts[2]]
	}
	gone := a == nil || a.name != parts[3] || a.channel.id != parts[1] || a.message != nil && a.message.deleted
	s.mu.Unlock()
	until, err := strconv.ParseInt(r.URL.Query().Get("ex"), 16, 64)
	switch {
	case r.Header.Get("Authorization") != "":
		s.note("the bot's token was sent to the host of the attachments")
		fallthrough
	case gone, err != nil, r.URL.Query().Get("hm") != a.seal(until), s.now().Unix() > until:
		http.Error(w, "This content is no longer available.", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", a.kind)
	_, _ = w.Write(a.data)
}

// attach works out which attachments a message has after a request.
func (s *Server) attach(req *request, d *draft) ([]*attachment, *apiError) {
	if refused := s.checkSizes(req, d.channel); refused != nil {
		return nil, refused
	}
	entries, named := d.body["attachments"].([]any)
	private := d.flags&flagEphemeral != 0 || number(d.body["flags"])&flagEphemeral != 0 && d.may&flagEphemeral != 0
	if !named {
		return append(d.old[:len(d.old):len(d.old)], s.attachPlain(req, d.channel, private)...), nil
	}
	var out []*attachment
	for i, e := range entries {
		entry, _ := e.(map[string]any)
		a, refused := s.attachEntry(req, d, entry, i, private)
		if refused != nil {
			return nil, refused
		}
		out = append(out, a)
	}
	return out, nil
}

// attachPlain attaches the parts of a request that describes none of them.
func (s *Server) attachPlain(req *request, c *Channel, private bool) []*attachment {
	var out []*attachment
	for i := range len(req.files) {
		part := fmt.Sprintf("files[%d]", i)
		if f, ok := req.files[part]; ok {
			req.used[part] = true
			out = append(out, s.keep(c, f, private))
		}
	}
	return out
}

// attachEntry finds what one entry of "attachments" means: a part of this request or a file already there.
func (s *Server) attachEntry(req *request, d *draft, entry map[string]any, i int, private bool) (*attachment, *apiError) {
	id := text(entry["id"])
	part := "files[" + id + "]"
	f, uploaded := req.files[part]
	if !uploaded {
		for _, a := range d.old {
			if a.id == id {
				return a, nil
			}
		}
		return nil, invalid(fmt.Sprintf("attachments/%d/id", i), "ATTACHMENT_NOT_FOUND", "neither a part %s was uploaded nor has the message an attachment %s", part, id)
	}
	if req.used[part] {
		return nil, invalid(fmt.Sprintf("attachments/%d/id", i), "ATTACHMENT_ID_DUPLICATE", "the part %s is described twice", part)
	}
	req.used[part] = true
	if name := text(entry["filename"]); name != "" {
		f.Name = name
	}
	f.Description = text(entry["description"])
	a := s.keep(d.channel, f, private)
	a.title = text(entry["title"])
	if spoiler, _ := entry["is_spoiler"].(bool); spoiler {
		a.spoiler = true
	}
	return a, nil
}

var filePart = regexp.MustCompile(`^files\[([0-9])\]$`)

func (s *Server) checkSizes(req *request, c *Channel) *apiError {
	if len(req.files) > maxAttachments {
		return invalid("attachments", "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length.")
	}
	for part, f := range req.files {
		switch {
		case !filePart.MatchString(part):
			return invalid(part, "UNKNOWN_PART", "uploaded parts are named files[0] to files[9]")
		case len(f.Bytes) > c.uploadLimit():
			return refuse(http.StatusRequestEntityTooLarge, codeTooLarge, "Request entity too large")
		}
	}
	return nil
}
