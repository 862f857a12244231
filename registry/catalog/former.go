package catalog

// Former tells what is used instead of a name that tools had elsewhere or once. Such a name is no alias: it can't be called.
func (r *Registry) Former(name string) (instead string, ok bool) {
	instead, ok = r.config.Former[name]
	return instead, ok
}
