// Package words says in a reader's language what the chats and the pages say alike: errors, limits, what an input takes,
// categories of tools. The texts are in internal/i18n.
package words
