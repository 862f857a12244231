package router

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// TestEveryTextExists reads the keys out of the source of the chat rooms: what is said must be in the catalogue,
// and what is in the catalogue must be said.
func TestEveryTextExists(t *testing.T) {
	t.Parallel()
	texts := map[string]any{}
	for _, room := range []string{"chat", "results", "saying", "sitework", "asking", "missions"} {
		raw, err := os.ReadFile(filepath.Join("..", "..", "..", "internal", "i18n", "texts", room+".en.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &texts); err != nil {
			t.Fatal(err)
		}
	}
	catalogue, err := i18n.Load()
	if err != nil {
		t.Fatal(err)
	}
	said, english := saidKeys(t), catalogue.Voice(i18n.Fallback)
	for key := range said {
		if !english.Has(key) {
			t.Errorf("the text %q is in no file of texts", key)
		}
	}
	for key := range texts {
		if !said[key] {
			t.Errorf("the text %q is never said", key)
		}
	}
}

func saidKeys(t *testing.T) map[string]bool {
	t.Helper()
	said := map[string]bool{}
	var files []string
	for _, rooms := range []string{"../*/*.go", "../../words/*.go"} {
		found, err := filepath.Glob(rooms)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	literal := regexp.MustCompile(`"([a-z]+\.[a-zA-Z]+(?:\.many)?)"`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || strings.Contains(file, "chattest") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range literal.FindAllStringSubmatch(string(source), -1) {
			said[m[1]] = true
		}
	}
	for _, name := range []string{"photo.jpg", "video.mp", "voice.ogg", "audio.mp", "sticker.webp", "result.txt", "result.json", "command.NAME", "example.png", "pictures.jpg"} {
		delete(said, name)
	}
	for _, c := range ownCommands(turn.Operator{}, allRooms) {
		said["command."+c.Name] = true
		for _, f := range c.Inputs {
			said["takes."+f.Name] = true
		}
	}
	for _, s := range []runs.Status{
		runs.StatusAwaitingConfirmation, runs.StatusQueued, runs.StatusSubmitted, runs.StatusRunning,
		runs.StatusSucceeded, runs.StatusFailed, runs.StatusCanceled, runs.StatusTimedOut,
	} {
		said["run."+string(s)] = true
	}
	for _, s := range []runs.Source{
		runs.FromArgument, runs.FromAttachment, runs.FromReply, runs.FromAnswer, runs.FromPreset,
		runs.FromPreference, runs.FromChat, runs.FromDefault, runs.FromRandom,
	} {
		said["source."+string(s)] = true
	}
	for _, follow := range registry.Follows() {
		said["follow."+string(follow)] = true
	}
	for _, u := range []registry.CostUnit{registry.UnitSecond, registry.UnitToken, registry.UnitRequest} {
		said["unit."+string(u)] = true
	}
	for _, f := range []registry.InputType{registry.TypeImage, registry.TypeVideo, registry.TypeAudio, registry.TypeFile} {
		said["want."+string(f)], said["want."+string(f)+".many"] = true, true
	}
	for _, reason := range []users.Reason{
		users.ReasonBlocked, users.ReasonRole, users.ReasonChat, users.ReasonSpace, users.ReasonStranger, users.ReasonTool,
	} {
		said["access."+string(reason)] = true
	}
	for _, kind := range []runs.LimitKind{runs.LimitAtOnce, runs.LimitPerDay, runs.LimitDayCap, runs.LimitMonthCap, runs.LimitUploads, runs.LimitResults} {
		said["limit."+string(kind)] = true
	}
	for _, code := range []registry.Code{
		registry.CodeInvalidInput, registry.CodeUnavailable, registry.CodeTimeout, registry.CodeRateLimited, registry.CodeRefused, registry.CodeUnauthorized,
		registry.CodeLost, registry.CodeGone, registry.CodeProvider, registry.CodeBadOutput, registry.CodeCanceled, registry.CodeInternal,
	} {
		said["problem."+string(code)] = true
	}
	for _, stop := range []agent.Stop{agent.StopRounds, agent.StopCalls, agent.StopTokens, agent.StopDay} {
		said["asked.bound."+string(stop)] = true
	}
	for _, notice := range []runs.Notice{runs.NoticeWaiting, runs.NoticeWaking, runs.NoticeMoved, runs.NoticeAnew, runs.NoticeLost, runs.NoticeSilent} {
		said["status.notice."+string(notice)] = true
	}
	for group, names := range map[string][]string{
		"": {"posts", "pages", "images"}, "list.": {"post", "page", "image"}, "role.": {"owner", "editor", "author"}, "state.": {"published", "draft", "archived"},
		"members.": {"author", "editor", "none"},
		"field.":   {"title", "name", "slug", "body", "category", "author", "description"},
	} {
		for _, name := range names {
			said["sitework."+group+name] = true
		}
	}
	said["status.rest"], said["status.restMinutes"] = true, true // by i18n.Voice.Rest
	said["limit.near"], said["limit.over"] = true, true
	said["nothing.charged"], said["format.time"] = true, true
	return said
}
