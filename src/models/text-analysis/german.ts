/**
 * German inflects with endings that an English stemmer leaves alone: "Preise" and "Preisen" should match "Preis". The
 * index contains the stem in addition to each word of a German text, and a German query looks for stems, so a query
 * that is not recognised as German still finds words as they are written. Measured with `bench/retrieval.ts`: stems in
 * all texts make English ones harder to find, and stems instead of words make misspelt ones harder to find.
 */

/** Frequent words that exist only in German, without the marks that `text-analysis.ts` removes. */
const germanWords = new Set(
  `aber als auf aus bei beim bis das dass dem der diese diesem diesen dieser dieses durch ein eine einem einen einer eines
  er fur hatte ich ist kann kein keine mit nach nicht oder sein sich sie sind uber und unter viel viele vom von wann
  waren warum welche welchem welchen welcher welches wer werden wie wird wo wurde wurden zu zum zur`.split(
    /\s+/,
  ),
)
/** Frequent words of English, which are evidence against German. */
const englishWords = new Set(
  'a and are as at be by did do does for from how is it of on or that the these this to were what when where which who with'.split(
    ' ',
  ),
)

/** Votes of these words for German; a word of both languages is neutral. */
const votes = new Map([...germanWords].map(word => [word, 1]))
for (const word of englishWords) votes.set(word, (votes.get(word) ?? 0) - 1)

/** True if a text with these terms is probably German; without a frequent word, this is unknown. */
export function isGerman(terms: readonly string[]): boolean {
  let sum = 0
  for (const term of terms) sum += votes.get(term) ?? 0
  return sum > 0
}

/** Removes the ending of case or number ("light" stemming, Savoy 2006) from words of plain letters. */
export function germanStem(term: string): string {
  if (!/^[a-z]{5,}$/.test(term) || germanWords.has(term)) return term
  return term.replace(endings, '')
}

const endings = /(?<=^.{4,})(?:ern|e[mnrs]?)$|(?<=^.{3,}[bdfghklmnrt])s$/
