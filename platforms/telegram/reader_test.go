package telegram

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/telegram/botapi"
	"github.com/signalbox/signalbox/users"
)

func testReader() reader {
	return reader{bot: 42, username: "Sig_Bot", now: time.Unix(1_800_000_000, 0)}
}

// readJSON reads one update, given without its number.
func readJSON(t *testing.T, update string) (chat.Incoming, bool) {
	t.Helper()
	u, err := botapi.ParseUpdate([]byte(`{"update_id":7,` + update[1:]))
	if err != nil || u.Broken != nil {
		t.Fatal(err, u.Broken)
	}
	return testReader().read(u)
}

// inGroup makes a message of Ann's in a group; more are further members.
func inGroup(more string) string {
	return `{"message":{"message_id":5,"date":1700000000,"chat":{"id":-10,"type":"supergroup","title":"Makers"},
		"from":{"id":9,"first_name":"Ann","last_name":"Lee","language_code":"de"},` + more + `}}`
}

func TestReader(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		update string
		want   func(chat.Incoming) any // what to look at
		equals any                     // nil: the update is none of ours
	}{
		"an update's number is unique beyond the bot": {inGroup(`"text":"hello"`), func(in chat.Incoming) any { return in.ID }, "42/7"},
		"who speaks": {inGroup(`"text":"hello"`), func(in chat.Incoming) any { return in.From },
			users.Identity{Platform: "telegram", ExternalID: "9", Name: "Ann Lee", Language: "de"}},
		"where": {inGroup(`"text":"hello"`), func(in chat.Incoming) any { return in.Chat },
			chat.Chat{Place: chat.Place{Chat: "-10"}, Kind: chat.ChatGroup, Title: "Makers"}},
		"A44 a command with our name, in any case, is addressed to us": {inGroup(`"text":"/Paint@sig_bot a cat","entities":[{"type":"bot_command","offset":0,"length":14}]`),
			func(in chat.Incoming) any { return []any{in.Command, in.Text, in.Addressed} }, []any{"Paint", "a cat", true}},
		"A44 trap 13 a command for another bot is none of ours": {inGroup(`"text":"/paint@other_bot a cat"`), nil, nil},
		"A37 trap 13 a command in a caption, with what it needs on the next line": {inGroup(`"caption":"/paint\nred","photo":[{"file_id":"s","width":9,"height":9},{"file_id":"L","width":90,"height":80,"file_size":5}]`),
			func(in chat.Incoming) any { return []any{in.Command, in.Text, in.Attachments, in.Message.Media} },
			[]any{"paint", "red", []chat.Attachment{{Kind: chat.KindPhoto, MIMEType: "image/jpeg", Bytes: 5, Width: 90, Height: 80, Handle: "L"}}, true}},
		"trap 13 a command in the middle of a text is none": {inGroup(`"text":"see /paint","entities":[{"type":"bot_command","offset":4,"length":6}]`),
			func(in chat.Incoming) any { return []any{in.Command, in.Text} }, []any{"", "see /paint"}},
		"an animation also comes as a document and is one file": {inGroup(`"animation":{"file_id":"a","mime_type":"video/mp4"},"document":{"file_id":"a"}`),
			func(in chat.Incoming) any { return in.Attachments }, []chat.Attachment{{Kind: chat.KindAnimation, MIMEType: "video/mp4", Handle: "a"}}},
		"a round video is a video": {inGroup(`"video_note":{"file_id":"v"}`),
			func(in chat.Incoming) any { return in.Attachments }, []chat.Attachment{{Kind: chat.KindVideo, MIMEType: "video/mp4", Handle: "v"}}},
		"a sticker is a picture": {inGroup(`"sticker":{"file_id":"x"}`),
			func(in chat.Incoming) any { return in.Attachments[0].Kind }, chat.KindSticker},
		"a drawn sticker is no picture": {inGroup(`"sticker":{"file_id":"x","is_animated":true}`),
			func(in chat.Incoming) any { return in.Attachments[0].Kind }, chat.KindDocument},
		"parts of an album": {inGroup(`"media_group_id":"77","document":{"file_id":"x"}`), func(in chat.Incoming) any { return in.Album }, "77"},
		"the bot's name makes a message ours, and is no part of it": {inGroup(`"text":"🙂 @Sig_bot hi","entities":[{"type":"mention","offset":3,"length":8}]`),
			func(in chat.Incoming) any { return []any{in.Addressed, in.Text} }, []any{true, "🙂 hi"}},
		"A38 a reply to a file": {inGroup(`"text":"/up","reply_to_message":{"message_id":4,"date":1,"chat":{"id":-10,"type":"supergroup"},"from":{"id":3},"caption":"see","document":{"file_id":"d","file_name":"a.png","mime_type":"image/png"}}`),
			func(in chat.Incoming) any { return []any{*in.ReplyTo, in.Addressed} }, []any{chat.Quoted{
				Ref: chat.MessageRef{Place: chat.Place{Chat: "-10"}, ID: "4", Media: true}, Text: "see",
				From:        users.Identity{Platform: "telegram", ExternalID: "3"},
				Attachments: []chat.Attachment{{Kind: chat.KindDocument, Name: "a.png", MIMEType: "image/png", Handle: "d"}},
			}, false}},
		"a reply to the bot is addressed to it": {inGroup(`"text":"yes","reply_to_message":{"message_id":4,"date":1,"chat":{"id":-10},"from":{"id":42},"text":"Sure?"}`),
			func(in chat.Incoming) any { return []any{in.ReplyTo.Own, in.Addressed} }, []any{true, true}},
		"what is quoted is what counts": {inGroup(`"text":"/up","reply_to_message":{"message_id":4,"date":1,"chat":{"id":-10},"text":"red and blue"},"quote":{"text":"blue","position":8}`),
			func(in chat.Incoming) any { return in.ReplyTo.Text }, "blue"},
		"a message of another chat can be replied to": {inGroup(`"text":"/up","external_reply":{"message_id":4,"photo":[{"file_id":"p","width":1,"height":1}]}`),
			func(in chat.Incoming) any { return []any{in.ReplyTo.Ref, in.ReplyTo.Attachments[0].Handle} }, []any{chat.MessageRef{}, "p"}},
		"a topic": {inGroup(`"text":"x","message_thread_id":33,"is_topic_message":true`), func(in chat.Incoming) any { return in.Message },
			chat.MessageRef{Place: chat.Place{Chat: "-10", Topic: "33"}, ID: "5"}},
		"a thread of replies is no topic":        {inGroup(`"text":"x","message_thread_id":33`), func(in chat.Incoming) any { return in.Chat.Topic }, ""},
		"the general topic is addressed by none": {inGroup(`"text":"x","message_thread_id":1,"is_topic_message":true`), func(in chat.Incoming) any { return in.Chat.Topic }, ""},
		"in a topic the topic's first message is no reply": {inGroup(`"text":"x","message_thread_id":33,"is_topic_message":true,"reply_to_message":{"message_id":33,"date":1,"chat":{"id":-10},"from":{"id":42}}`),
			func(in chat.Incoming) any { return []any{in.ReplyTo, in.Addressed} }, []any{(*chat.Quoted)(nil), false}},
		"an anonymous administrator runs the group, as nobody one knows": {`{"message":{"message_id":5,"date":1,"chat":{"id":-10,"type":"supergroup"},"text":"/x",
			"from":{"id":1087968824,"is_bot":true,"first_name":"Group"},"sender_chat":{"id":-10,"type":"supergroup","title":"Makers"}}}`,
			func(in chat.Incoming) any { return [2]bool{in.Anonymous, in.Admin} }, [2]bool{true, true}},
		"who speaks as a channel is nobody one knows, and runs nothing": {`{"message":{"message_id":5,"date":1,"chat":{"id":-10,"type":"supergroup"},"text":"/x",
			"from":{"id":136817688,"is_bot":true,"first_name":"Channel"},"sender_chat":{"id":-99,"type":"channel","title":"News"}}}`,
			func(in chat.Incoming) any { return [2]bool{in.Anonymous, in.Admin} }, [2]bool{true, false}},
		"an anonymous administrator speaks as the group": {`{"message":{"message_id":5,"date":1,"chat":{"id":-10,"type":"supergroup"},"text":"/x",
			"from":{"id":1087968824,"is_bot":true,"first_name":"Group"},"sender_chat":{"id":-10,"type":"supergroup","title":"Makers"}}}`,
			func(in chat.Incoming) any { return in.From }, users.Identity{Platform: "telegram", ExternalID: "-10", Name: "Makers"}},
		"other bots are not listened to":          {`{"message":{"message_id":5,"date":1,"chat":{"id":-10,"type":"group"},"text":"/x","from":{"id":8,"is_bot":true,"first_name":"B"}}}`, nil, nil},
		"posts of a linked channel start nothing": {`{"message":{"message_id":5,"date":1,"chat":{"id":-10,"type":"group"},"text":"/x","from":{"id":777000,"first_name":"Telegram"},"sender_chat":{"id":-99}}}`, nil, nil},
		"a place, a contact or a poll in private gets an answer": {`{"message":{"message_id":5,"date":1,"chat":{"id":9,"type":"private"},"from":{"id":9,"first_name":"Ann"},"location":{"latitude":1,"longitude":2}}}`,
			func(in chat.Incoming) any { return []any{in.Kind, in.Text, len(in.Attachments)} }, []any{chat.KindMessage, "", 0}},
		"in a group it is none of ours": {inGroup(`"poll":{"id":"1","question":"When?"}`), nil, nil},
		"but as an answer to the bot's question": {inGroup(`"contact":{"phone_number":"1"},"reply_to_message":{"message_id":4,"date":1,"chat":{"id":-10},"from":{"id":42},"text":"Photo?"}`),
			func(in chat.Incoming) any { return in.Addressed }, true},
		"service messages are nothing to answer": {inGroup(`"new_chat_members":[{"id":42,"is_bot":true,"first_name":"S"}]`), nil, nil},
		"an edited message":                      {`{"edited_message":` + inGroup(`"text":"/x"`)[len(`{"message":`):], func(in chat.Incoming) any { return in.Kind }, chat.KindEdited},
		"a press": {`{"callback_query":{"id":"q","from":{"id":9,"first_name":"Ann"},"data":"k.again","message":{"message_id":6,"date":1,"chat":{"id":9,"type":"private"},"photo":[{"file_id":"p"}]}}}`,
			func(in chat.Incoming) any { return []any{in.Kind, *in.Press, in.Message, in.Chat.Kind} },
			[]any{chat.KindPress, chat.Press{ID: "q", Data: "k.again"}, chat.MessageRef{Place: chat.Place{Chat: "9"}, ID: "6", Media: true}, chat.ChatPrivate}},
		"a press under a message that is not shown any more": {`{"callback_query":{"id":"q","from":{"id":9},"data":"d","message":{"message_id":6,"date":0,"chat":{"id":9,"type":"private"}}}}`,
			func(in chat.Incoming) any { return in.Message.ID }, "6"},
		"a press under a message of inline mode": {`{"callback_query":{"id":"q","from":{"id":9},"data":"d","inline_message_id":"i"}}`,
			func(in chat.Incoming) any { return []any{in.Message.ID, in.Chat.Kind, *in.Chat.Inline} },
			[]any{"i", chat.ChatGroup, chat.Inline{Private: "9"}}},
		"a message of inline mode tells where it stands, and is no request": {inGroup(`"text":"/paint a cat","via_bot":{"id":42,"is_bot":true},"reply_markup":{"inline_keyboard":[[{"text":"Run","callback_data":"k.inline0"}]]}`),
			func(in chat.Incoming) any { return []any{in.Kind, in.Chat.Chat, in.Press.Data, in.Command} }, []any{chat.KindPlaced, "-10", "k.inline0", ""}},
		"a picture of inline mode is no request": {inGroup(`"photo":[{"file_id":"p"}],"via_bot":{"id":42,"is_bot":true}`), nil, nil},
		"a press without a message":              {`{"callback_query":{"id":"q","from":{"id":9},"data":"d"}}`, nil, nil},
		"a block": {`{"my_chat_member":{"chat":{"id":9,"type":"private"},"from":{"id":9},"date":1,"old_chat_member":{"status":"member"},"new_chat_member":{"status":"kicked"}}}`,
			func(in chat.Incoming) any { return in.Membership }, chat.MemberRemoved},
		"an unblock": {`{"my_chat_member":{"chat":{"id":9,"type":"private"},"from":{"id":9},"date":1,"old_chat_member":{"status":"kicked"},"new_chat_member":{"status":"member"}}}`,
			func(in chat.Incoming) any { return in.Membership }, chat.MemberJoined},
		"a group that goes on under another id is not left": {inGroup(`"migrate_to_chat_id":-100`), nil, nil},
		"a promotion is no coming":                          {`{"my_chat_member":{"chat":{"id":-9,"type":"group"},"from":{"id":9},"date":1,"old_chat_member":{"status":"member"},"new_chat_member":{"status":"administrator"}}}`, nil, nil},
		"a kind nobody knows":                               {`{"poll":{"id":"1"}}`, nil, nil},
		"what Postgres can't keep is taken out":             {inGroup(`"text":"a\u0000b"`), func(in chat.Incoming) any { return in.Text }, "ab"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, ok := readJSON(t, test.update)
			if test.want == nil {
				if ok {
					t.Errorf("it became %+v", in)
				}
				return
			}
			if !ok {
				t.Fatal("it was passed over")
			}
			if got := test.want(in); !reflect.DeepEqual(got, test.equals) {
				t.Errorf("got %#v, want %#v", got, test.equals)
			}
		})
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(`{"update_id":1,` + inGroup(`"text":"/x@sig_bot","entities":[{"type":"mention","offset":-3,"length":99}]`)[1:]))
	f.Add([]byte(`{"update_id":1,"callback_query":{"id":"q","message":{"chat":{"id":1}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		u, err := botapi.ParseUpdate(data)
		if err != nil || u.Broken != nil {
			return
		}
		in, ok := testReader().read(u)
		if !ok {
			return
		}
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var again chat.Incoming
		if err := json.Unmarshal(raw, &again); err != nil {
			t.Fatal(err)
		}
	})
}
