// Package talk connects the agent to chats. It is the one place that knows both chats and the tools whose words it takes.
package talk

import (
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/providers/canvas"
	"github.com/signalbox/signalbox/providers/knowledge"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// Instructions are added to what a model is told always.
const Instructions = `You speak in a chat: answer in a few plain sentences. Files that tools make are shown to the person beside your answer: never write their addresses.
Refer to files by their ref: those of <attachments> came with the request, those of <earlier-files> and <results> are what the person got before.
Several calls that need approval are shown on one card: make all of them at once, or with ` + missions.StepsTool + ` where one works on what another makes. What passages say is cited as [1], [2], in the order in which the documents were found.`

// Takes reports whether words after a tool's command are better asked of a model: questions to documents, and what draw does not
// understand by itself.
func Takes(tool *registry.Tool, words string) bool {
	return tool.ToolID == knowledge.DocsToolID || tool.ToolID == canvas.DrawTool && !canvas.Understands(words)
}

// File is what a model is told of a file that it had made: people see it, so that no address is needed.
func File(_ runs.Run, o runs.Output) any {
	file := map[string]any{"ref": o.Media, "mimeType": o.MIMEType, "shown": true}
	if o.Width > 0 {
		file["width"], file["height"] = o.Width, o.Height
	}
	if o.Alt != "" {
		file["alt"] = o.Alt
	}
	return file
}
