package files

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// Scheme begins the references of stored files.
const Scheme = "asset:"

// Sides of thumbnails: of the tiles of a list, and of a card or message. They are as large as a screen of fine pixels shows them. On the
// wall of the gallery a usual screen shows WallSide, one of fine pixels CardSide.
const (
	TileSide = 128
	WallSide = 320
	CardSide = 512
)

// Links makes the addresses of stored files. They are signed, so that nobody can guess one, and need no cookie, so that they work
// in a chat or a script. Each works as long as its owner has the file; one without an owner, for services, as long as anybody has.
type Links struct {
	Key []byte // signs the addresses; kept across restarts
}

// File is the path of a file of an account.
func (l Links) File(owner string, ref registry.Media, name string) string {
	return l.path("/files/", owner, ref, name)
}

// Upload is another path of the same file, under which tools that manage content know what they keep (D85). It opens to
// nobody whom File's does not.
func (l Links) Upload(owner string, ref registry.Media, name string) string {
	return l.path("/uploads/", owner, ref, name)
}

func (l Links) path(under, owner string, ref registry.Media, name string) string {
	hash := strings.TrimPrefix(ref, Scheme)
	name = cmp.Or(name, "file")
	return under + l.sign(owner, hash) + "/" + hash + "/" + url.PathEscape(path.Base(name))
}

// Thumb is the path of a small version of a picture: of TileSide, WallSide or CardSide. It opens to nobody whom File's does not.
func (l Links) Thumb(owner string, ref registry.Media, side int) string {
	hash := strings.TrimPrefix(ref, Scheme)
	return "/thumbs/" + l.sign(owner, hash) + "/" + hash + "/" + strconv.Itoa(side)
}

func (l Links) sign(owner, hash string) string {
	mac := hmac.New(sha256.New, l.Key)
	io.WriteString(mac, "file:"+owner+":"+hash)
	return hex.EncodeToString(mac.Sum(nil)[:16])
}
