package telegramtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Command is an entry of the bot's command list.
type Command struct {
	Command     string `json:"command"`
	Description string `json:"description"`
	IsEphemeral bool   `json:"is_ephemeral,omitempty"`
}

// menuKey is a scope with its language; scope is the type, then the chat and user where it has them.
type menuKey struct{ scope, language string }

var languageCode = regexp.MustCompile(`^([a-z]{2})?$`)

func (s *Server) menuKey(req *request) (menuKey, *apiError) {
	scope := struct {
		Type   string          `json:"type"`
		ChatID json.RawMessage `json:"chat_id"`
		UserID int64           `json:"user_id"`
	}{Type: "default"}
	if err := req.decode("scope", &scope); err != nil {
		return menuKey{}, err
	}
	language := req.params["language_code"]
	if !languageCode.MatchString(language) {
		return menuKey{}, badRequest("invalid language code specified")
	}
	key := scope.Type
	if len(scope.ChatID) > 0 {
		id, _ := strconv.ParseInt(strings.Trim(string(scope.ChatID), `"`), 10, 64)
		if s.chats[id] == nil {
			return menuKey{}, badRequest("chat not found")
		}
		key += fmt.Sprintf(":%d", id)
		if scope.UserID != 0 {
			key += fmt.Sprintf(":%d", scope.UserID)
		}
	}
	return menuKey{key, language}, nil
}

func (s *Server) setMyCommands(req *request) (any, *apiError) {
	key, err := s.menuKey(req)
	if err != nil {
		return nil, err
	}
	var commands []Command
	if err := req.decode("commands", &commands); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, c := range commands {
		if seen[c.Command] {
			return nil, badRequest("BOT_COMMAND_DUPLICATE")
		}
		seen[c.Command] = true
	}
	s.menus[key] = commands
	s.signal()
	return true, nil
}

func (s *Server) getMyCommands(req *request) (any, *apiError) {
	key, err := s.menuKey(req)
	if err != nil {
		return nil, err
	}
	if s.menus[key] == nil {
		return []Command{}, nil
	}
	return s.menus[key], nil
}

func (s *Server) deleteMyCommands(req *request) (any, *apiError) {
	key, err := s.menuKey(req)
	if err != nil {
		return nil, err
	}
	delete(s.menus, key)
	s.signal()
	return true, nil
}

// Menu returns the commands the user is offered in the chat: the most specific list that exists, in the
// user's language before none.
func (u *User) Menu(c *Chat) []Command {
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	scopes := []string{fmt.Sprintf("chat:%d", c.id), "all_private_chats", "default"}
	if c.kind != "private" {
		scopes = []string{fmt.Sprintf("chat_member:%d:%d", c.id, u.id)}
		if c.members[u.id] == "administrator" {
			scopes = append(scopes, fmt.Sprintf("chat_administrators:%d", c.id))
		}
		scopes = append(scopes, fmt.Sprintf("chat:%d", c.id))
		if c.members[u.id] == "administrator" {
			scopes = append(scopes, "all_chat_administrators")
		}
		scopes = append(scopes, "all_group_chats", "default")
	}
	for _, scope := range scopes {
		for _, language := range []string{u.language, ""} {
			if list := u.s.menus[menuKey{scope, language}]; len(list) > 0 {
				return slices.Clone(list)
			}
		}
	}
	return nil
}

// cutCommand takes "/name@bot" apart.
func cutCommand(s string) (name, bot string) {
	name, bot, _ = strings.Cut(strings.TrimPrefix(s, "/"), "@")
	return name, bot
}

// setChatMenuButton takes the button of all private chats; a Mini App's address is https.
func (s *Server) setChatMenuButton(req *request) (any, *apiError) {
	var b MenuButton
	if err := req.decode("menu_button", &b); err != nil {
		return nil, err
	}
	switch {
	case b.Type != "commands" && b.Type != "default" && b.Type != "web_app":
		return nil, badRequest("MenuButton has unsupported type %q", b.Type)
	case b.Type == "web_app" && (b.Text == "" || !strings.HasPrefix(b.WebApp.URL, "https://")):
		return nil, badRequest("BUTTON_URL_INVALID")
	}
	s.menuButton = b
	return true, nil
}

// MenuButton is the button beside the text field of private chats.
type MenuButton struct {
	Type   string
	Text   string
	WebApp struct{ URL string } `json:"web_app"`
}

// MenuButton gives the button of all private chats.
func (s *Server) MenuButton() MenuButton {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.menuButton
}

func (s *Server) getChat(req *request) (any, *apiError) {
	chat, err := s.target(req)
	if err != nil {
		return nil, err
	}
	return chat.wire(), nil
}

func (s *Server) getChatMember(req *request) (any, *apiError) {
	chat, err := s.target(req)
	if err != nil {
		return nil, err
	}
	if id := req.int64("user_id"); id == s.botID() {
		return s.member(chat.botStatus), nil
	}
	user, known := s.users[req.int64("user_id")]
	if !known {
		return nil, badRequest("user not found")
	}
	status := cmp.Or(chat.members[user.id], "left")
	return memberOf(status, user.wire()), nil
}

func (s *Server) leaveChat(req *request) (any, *apiError) {
	chat, err := s.target(req)
	if err != nil {
		return nil, err
	}
	chat.botStatus = "left"
	return true, nil
}
