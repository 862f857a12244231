// Package lexicon reads what people write to a bot in English, German, Spanish, Russian and Chinese: the stems of
// its words, the tasks that it speaks of, and whether it is no more than a greeting. What it knows stands in two
// files: meanings.json lists the tasks of media and office work with the words that people use for them, and
// speech.json the words that carry no meaning. It is general knowledge; it knows nothing of the tools there are.
package lexicon
