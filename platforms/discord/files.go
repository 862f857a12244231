package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
)

// MaxDownload is the largest file that Fetch opens, in bytes; MaxUpload what Discord takes where it says
// nothing else, and mostUpload what it takes anywhere.
const (
	MaxDownload = 100 << 20
	MaxUpload   = 10 << 20
	mostUpload  = 100 << 20
	maxRequest  = 25 << 20 // all files of a message together
	maxFiles    = 10
	maxAlt      = 1024
)

// fileHandle finds a file again. Addresses are good for about a day; then the message that carries the file
// gives a new one. Files of commands are in no message.
type fileHandle struct {
	URL     string `json:"url"`
	ID      string `json:"id"`
	Channel string `json:"channel,omitempty"`
	Message string `json:"message,omitempty"`
}

func attachments(m message) []chat.Attachment {
	var list []chat.Attachment
	for _, a := range m.Attachments {
		list = append(list, attachmentOf(a, m.ChannelID, m.ID))
	}
	return list
}

func attachmentOf(a attachment, channelID, messageID string) chat.Attachment {
	raw, _ := json.Marshal(fileHandle{URL: a.URL, ID: a.ID, Channel: channelID, Message: messageID}) // texts only
	mime, _, _ := strings.Cut(a.ContentType, ";")
	return chat.Attachment{
		Kind: chat.KindOf(mime), Name: clean(a.Filename), MIMEType: clean(strings.TrimSpace(mime)), Bytes: a.Size,
		Width: a.Width, Height: a.Height, Handle: clean(string(raw)),
	}
}

// Fetch opens a file that came in.
func (a *Adapter) Fetch(ctx context.Context, f chat.Attachment) (io.ReadCloser, error) {
	var h fileHandle
	if err := json.Unmarshal([]byte(f.Handle), &h); err != nil || h.URL == "" {
		return nil, fmt.Errorf("discord: %q is no handle of a file", f.Handle)
	}
	body, err := a.client.download(ctx, h.URL)
	if reasonOf(err) == gone && h.Message != "" {
		if h.URL, err = a.newAddress(ctx, h); err == nil {
			body, err = a.client.download(ctx, h.URL)
		}
	}
	return body, contract(err)
}

// newAddress asks for a file's message, which gives an address that is good again.
func (a *Adapter) newAddress(ctx context.Context, h fileHandle) (string, error) {
	m, err := a.client.message(ctx, h.Channel, h.Message)
	if err != nil {
		return "", err
	}
	for _, f := range m.Attachments {
		if f.ID == h.ID {
			return f.URL, nil
		}
	}
	return "", fmt.Errorf("discord: message %s has lost its file %s: %w", h.Message, h.ID, chat.ErrGone)
}

// message reads a message.
func (c *Client) message(ctx context.Context, channelID, messageID string) (message, error) {
	var m message
	err := c.do(ctx, call{
		method: http.MethodGet, path: "/channels/" + channelID + "/messages/" + messageID,
		route: "/channels/{}/messages/{}", resource: channelID, repeatable: true,
	}, &m)
	return m, err
}

// downloadHosts are where Discord keeps files.
func downloadHosts() []string { return []string{"cdn.discordapp.com", "media.discordapp.net"} }

// cdn is where pictures of people are: on Discord's host, or beside another server that stands for Discord.
func (c *Client) cdn() string {
	base, err := url.Parse(c.base)
	if err != nil || c.base == defaultBase {
		return "https://" + downloadHosts()[0]
	}
	return base.Scheme + "://" + base.Host
}

// mayDownload keeps requests to Discord's hosts: an address comes in with a message.
func (c *Client) mayDownload(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	for _, host := range downloadHosts() {
		if u.Scheme == "https" && u.Host == host {
			return true
		}
	}
	base, err := url.Parse(c.base)
	return err == nil && c.base != defaultBase && u.Scheme == base.Scheme && u.Host == base.Host
}

const downloadCall = "GET file"

// download opens a file; the caller closes it. One that has expired is gone.
func (c *Client) download(ctx context.Context, address string) (io.ReadCloser, error) {
	if !c.mayDownload(address) {
		return nil, &Error{Call: downloadCall, Status: http.StatusForbidden, Message: "the address is none of Discord's"}
	}
	ctx, cancel := context.WithTimeout(ctx, uploadTimeout)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		cancel()
		return nil, &Error{Call: downloadCall, Message: "no address of a file"}
	}
	start := time.Now()
	resp, err := c.http.Do(req)
	if err != nil {
		cancel()
		c.observe(CallInfo{Call: downloadCall, Took: time.Since(start)})
		return nil, &Error{Call: downloadCall, Message: "no answer", err: withoutAddress(err)}
	}
	c.observe(CallInfo{Call: downloadCall, Status: resp.StatusCode, Took: time.Since(start)})
	body := &download{io.LimitReader(resp.Body, MaxDownload+1), resp.Body, cancel}
	switch {
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusForbidden:
		err = &Error{Call: downloadCall, Status: resp.StatusCode, Code: codeGoneFile, Message: "the file's address is over"}
	case resp.StatusCode != http.StatusOK:
		err = &Error{Call: downloadCall, Status: resp.StatusCode, Message: http.StatusText(resp.StatusCode)}
	case resp.ContentLength > MaxDownload:
		err = fmt.Errorf("discord: a file of %d bytes, at most %d are read: %w", resp.ContentLength, int64(MaxDownload), chat.ErrTooLarge)
	}
	if err != nil {
		_ = body.Close()
		return nil, err
	}
	return body, nil
}

// download is an open file.
type download struct {
	io.Reader
	body   io.Closer
	cancel context.CancelFunc
}

func (d *download) Close() error {
	d.cancel()
	return d.body.Close()
}

// fileName is the name under which a file is sent. The prefix hides what is to be shown on a click only.
func fileName(m chat.Media) string {
	name := path.Base(strings.ReplaceAll(m.FileName, `\`, "/"))
	if name == "." || name == "/" || name == "" {
		name = string(m.Kind)
	}
	if m.Spoiler {
		return "SPOILER_" + name
	}
	return name
}

// load reads a file to be sent, which goes as one piece.
func load(ctx context.Context, m chat.Media) (file, error) {
	r, err := m.Open(ctx)
	if err != nil {
		return file{}, err
	}
	defer func() { _ = r.Close() }()
	data, err := io.ReadAll(io.LimitReader(r, mostUpload+1))
	if err != nil {
		return file{}, fmt.Errorf("discord: read %s: %w", m.FileName, err)
	}
	if len(data) > mostUpload {
		return file{}, fmt.Errorf("discord: %s has over %d bytes: %w", m.FileName, int64(mostUpload), chat.ErrTooLarge)
	}
	return file{name: fileName(m), mime: m.MIMEType, data: data}, nil
}
