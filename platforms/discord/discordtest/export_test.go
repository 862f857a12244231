package discordtest

// CountInvalid counts n invalid requests as made, so that a test need not make them.
func (s *Server) CountInvalid(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		s.invalid = append(s.invalid, s.now())
	}
}
