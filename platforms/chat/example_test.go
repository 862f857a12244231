package chat_test

import (
	"fmt"

	"github.com/signalbox/signalbox/platforms/chat"
)

func ExampleParseCommand() {
	name, rest, forUs := chat.ParseCommand("/paint@my_bot a red bicycle", "my_bot")
	fmt.Println(name, "|", rest, "|", forUs)

	_, _, forUs = chat.ParseCommand("/paint@other_bot a red bicycle", "my_bot")
	fmt.Println(forUs)
	// Output:
	// paint | a red bicycle | true
	// false
}
