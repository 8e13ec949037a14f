/**
 * Returns the similarity of a word to each of `words`: 1 for the same word, the Dice coefficient of their
 * letter trigrams for other forms and misspellings ("install", "installation"), 0 below those.
 */
export function likenessTo(words: readonly string[]): (other: string) => number[] {
  const comparedWords = words.map(word => ({ word, trigrams: trigramsOf(word) }))
  return other => {
    const others = trigramsOf(other)
    return comparedWords.map(({ word, trigrams }) => {
      if (word === other) return 1
      if (word[0] !== other[0] || trigrams.size < 2 || others.size < 2) return 0
      const dice = (2 * trigrams.intersection(others).size) / (trigrams.size + others.size)
      return dice >= 0.6 ? dice : 0
    })
  }
}

function trigramsOf(word: string): Set<string> {
  return new Set(
    Array.from({ length: Math.max(word.length - 2, 0) }, (_, start) => word.slice(start, start + 3)),
  )
}
