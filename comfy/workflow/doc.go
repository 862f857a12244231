// Package workflow turns ComfyUI workflow files into tools and prompts.
//
// Parse reads a file in any of the forms found in the wild: the graph the editor saves, the prompt
// the server takes, and the wrappers that tools put around them. From a parsed Workflow come its
// Facts, the Prompt a server would be sent (Convert), and the definition of a tool with the Binding
// that writes a caller's values into the prompt (Define). Lint findings travel beside all of them.
//
// What can't be guessed an author says in a note, on lines of their own that never show:
//
//	@tool id=poster command=poster name="Big poster" category=text-to-image visibility=public cost=0.02/request
//	@input 6.text name=prompt label="What to draw" required
//	@input "My sampler".steps advanced default=20 min=4 max=40 choices=4|20|40
//	@output 9 name=poster type=image
//	@bot telegram send-as=document filename=poster.png
//
// A node is named by its id, by its path inside subgraphs (12:5), or by its title. cost is a price per run; with
// /second it is another rate for the time.
//
// The package does no network or file access except in Inspect's helpers, which read the files they
// are given. Everything in a workflow file is untrusted: size, depth and expansion are bounded, note
// texts are reduced to plain text, and secrets found in widgets never leave the package.
package workflow
