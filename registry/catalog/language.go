package catalog

import (
	"slices"

	"github.com/signalbox/signalbox/registry"
)

// In gives the catalogue as people read it in a language, a BCP 47 tag: the same tools under the same ids and commands, each with
// the words that it has in that language. It is made when it is first asked for.
func (s *Snapshot) In(language string) *Snapshot {
	if read, made := s.languages.Load(language); made {
		return read.(*Snapshot)
	}
	read := s
	for i := range s.tools {
		tool := s.tools[i].In(language)
		if tool == &s.tools[i] {
			continue
		}
		if read == s {
			read = s.copied()
		}
		read.tools[i] = *tool
	}
	made, _ := s.languages.LoadOrStore(language, read)
	return made.(*Snapshot)
}

// copied is a snapshot with a list of tools of its own, which is found by the words of s.
func (s *Snapshot) copied() *Snapshot { return s.view(slices.Clone(s.tools)) }

// view is a snapshot of these tools, which are found as those of s.
func (s *Snapshot) view(tools []registry.Tool) *Snapshot {
	return &Snapshot{
		tools: tools, byID: s.byID, byCommand: s.byCommand, private: s.private, byAlias: s.byAlias, byPath: s.byPath, reader: s.reader,
		index: s.index, hash: s.hash, at: s.at, problems: s.problems,
	}
}
