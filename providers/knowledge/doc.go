// Package knowledge answers questions with passages of documents. Each source of documents, be it a folder, a zip, a built file, a site or an
// upload, is a tool that finds passages in it; docs finds them in all sources that its asker may read.
//
// Documents are read by package document, kept and found by package index. What changed is told by hashes, so that only that is read again.
package knowledge
