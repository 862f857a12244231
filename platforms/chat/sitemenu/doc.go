// Package sitemenu runs the site from a chat: /post makes a draft of words and a photo, /site leads to posts, pages and pictures, and
// a result is put into one of them. It calls the site's own tools, which decide who may do what.
package sitemenu
