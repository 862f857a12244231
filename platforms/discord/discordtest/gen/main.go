// Command gen writes apitable/api.json from the official description of the Discord API. Run it through
// go generate in the discordtest folder; the argument is the folder of the descriptions.
package main

import (
	"fmt"
	"os"

	"github.com/signalbox/signalbox/platforms/discord/discordtest/apitable"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("two arguments expected, the folder of the descriptions and the file to write; got %d", len(args))
	}
	table, err := apitable.Derive(args[0])
	if err != nil {
		return err
	}
	data, err := table.Encode()
	if err != nil {
		return err
	}
	return os.WriteFile(args[1], data, 0o644)
}
