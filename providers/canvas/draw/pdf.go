package draw

import "context"

func (d *Drawer) pdf(ctx context.Context, v view, n *notes) ([]byte, error) { return nil, nil }
