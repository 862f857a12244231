// Package sitemenu is the site as it is run from a chat: /post makes a draft of words and a photo, /site leads to its posts, pages and
// pictures, and a result is put into one of them. It works by the site's own tools, which decide who may do what.
package sitemenu
