/**
 * German inflects by endings that a stemmer for English leaves alone: "Preise" and "Preisen" are to find "Preis". The index
 * holds the stem beside each word of a German text, and a German query asks for stems, so that a query that is not seen to
 * be German finds words as they are written. Measured by `bench/retrieval.ts`; stems in all texts make English ones harder
 * to find, and stems in the place of words misspelt ones.
 */

/** Frequent words that are German alone, without the marks that `text-analysis.ts` takes off. */
const germanWords = new Set(
  `aber als auf aus bei beim bis das dass dem der diese diesem diesen dieser dieses durch ein eine einem einen einer eines
  er fur hatte ich ist kann kein keine mit nach nicht oder sein sich sie sind uber und unter viel viele vom von wann
  waren warum welche welchem welchen welcher welches wer werden wie wird wo wurde wurden zu zum zur`.split(
    /\s+/,
  ),
)
/** What speaks against it. */
const englishWords = new Set(
  'a and are as at be by did do does for from how is it of on or that the these this to were what when where which who with'.split(
    ' ',
  ),
)

/** What each of these words says for German; the word that both languages have says nothing. */
const votes = new Map([...germanWords].map(word => [word, 1]))
for (const word of englishWords) votes.set(word, (votes.get(word) ?? 0) - 1)

/** Whether a text of these terms is more likely German than not; without a frequent word nobody can tell. */
export function isGerman(terms: readonly string[]): boolean {
  let sum = 0
  for (const term of terms) sum += votes.get(term) ?? 0
  return sum > 0
}

/** Without the ending of its case or number ("light" stemming, Savoy 2006); words of other letters stay as they are. */
export function germanStem(term: string): string {
  if (!/^[a-z]{5,}$/.test(term) || germanWords.has(term)) return term
  return term.replace(endings, '')
}

const endings = /(?<=^.{4,})(?:ern|e[mnrs]?)$|(?<=^.{3,}[bdfghklmnrt])s$/
