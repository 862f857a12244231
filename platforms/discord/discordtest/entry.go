package discordtest

import (
	"net/http"
	"strings"
)

// kindEntry is the type of the entry point, which the list of apps opens.
const kindEntry = 4

// checkEntry applies the rules of the entry point: it is global, says who answers it, and takes nothing.
func checkEntry(at string, c *command) *apiError {
	handler, given := c.body["handler"]
	switch options, _ := c.body["options"].([]any); {
	case c.kind() != kindEntry && given:
		return invalid(join(at, "handler"), "APPLICATION_COMMAND_HANDLER", "Only entry point commands have a handler")
	case c.kind() != kindEntry:
		return nil
	case c.guild != "":
		return invalid(join(at, "type"), "APPLICATION_COMMAND_ENTRY_POINT_GUILD", "Entry point commands are global")
	case number(handler) != 1 && number(handler) != 2:
		return invalid(join(at, "handler"), "BASE_TYPE_CHOICES", "Value must be one of (1, 2)")
	case len(options) > 0:
		return invalid(join(at, "options"), "APPLICATION_COMMAND_ENTRY_POINT_OPTIONS", "Entry point commands cannot have options")
	}
	return nil
}

// OpenApp opens the application from the list of apps. It fails the test where that would not come to the application.
func (u *User) OpenApp(c *Channel) *Interaction {
	u.s.t.Helper()
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	for _, own := range u.menu(c) {
		if own.kind() == kindEntry && number(own.body["handler"]) == 1 {
			return u.s.newInteraction(KindCommand, u, c, map[string]any{"id": own.id, "name": own.name(), "type": kindEntry}, nil)
		}
	}
	u.s.t.Fatalf("discordtest: the list of apps has no entry that comes to the application in %s", c)
	return nil
}

// SetPicture gives the person a picture of their own.
func (u *User) SetPicture(data []byte) {
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	u.picture = data
}

func (u *User) avatarWire() any {
	if u.picture == nil {
		return nil
	}
	return pictureHash
}

// pictureHash names every picture.
const pictureHash = "8342729096ea3675442027381ff50dfe"

// serveAvatar answers /avatars/PERSON/HASH.png.
func (s *Server) serveAvatar(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.users {
		if u.picture != nil && strings.TrimPrefix(r.URL.Path, "/avatars/") == u.id+"/"+pictureHash+".png" {
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write(u.picture)
			return
		}
	}
	http.NotFound(w, r)
}
