// Package services has today's services as data: files for providers/httptools, one for each account. Their facts and prices
// are those of the services' public documents, with their date; what these leave open is left out, and each file says what.
package services

import "embed"

// Files are the descriptions. A file is off until the secret that it names is set.
//
//go:embed *.tool.yaml
var Files embed.FS
