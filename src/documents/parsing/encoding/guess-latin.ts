/** Guesses the encoding of text in Latin letters, by the language with its letters beyond ASCII. */

export const western = 'windows-1252'

/** Letters beyond ASCII of languages in `windows-1252`. */
const westernLetters = [
  ...['äöüß', 'àâæçéèêëîïôœùûüÿ', 'áéíóúüñªº', 'áâãàçéêíóôõúüªº', 'àèéìîòùªº', 'åäöé', 'æøåé', 'áðéíóúýþæö'],
  ...['ëéïèüöêç', 'äöõüšž', 'àçéèíïóòúü', 'äöåéšž'],
]

/** Letters of Polish, Czech, Slovak, Hungarian, Romanian, Croatian and Slovenian, Turkish. */
const otherLetters = {
  'windows-1250': ['ąćęłńóśźż', 'áčďéěíňóřšťúůýž', 'áäčďéíľňóôšťúýž', 'áéíóöőúüű', 'ăâîşţ', 'čćđšž'],
  'windows-1254': ['çğıiöşüâî'],
}

/** Min letters for a decision. */
const minLetters = 3
/** Min share of the letters that a language has. */
const minShare = 0.9
/** Max letters that it lacks for each one that the likeliest Western language lacks. */
const maxMissing = 0.25

interface Letter {
  byte: number
  count: number
}

/** Returns `windows-1252` if no other encoding is clearly more likely. */
export function guessLatin(sample: Uint8Array): string {
  const letters = lettersOf(sample)
  if (total(letters) < minLetters) return western
  const missing = 1 - bestShare(letters, western, westernLetters)
  const needed = Math.max(minShare, 1 - maxMissing * missing)
  const [best] = Object.entries(otherLetters)
    .map(([encoding, languages]) => ({ encoding, share: bestShare(letters, encoding, languages) }))
    .toSorted((one, other) => other.share - one.share)
  return best !== undefined && missing > 0 && best.share >= needed ? best.encoding : western
}

/** Returns each letter of any of the encodings, with its count. */
function lettersOf(sample: Uint8Array): Letter[] {
  const counts = new Uint32Array(256)
  for (const byte of sample) counts[byte] = (counts[byte] ?? 0) + 1
  const tables = [western, ...Object.keys(otherLetters)].map(tableOf)
  return [...counts]
    .map((count, byte) => ({ byte, count }))
    .filter(({ byte, count }) => count > 0 && tables.some(table => /\p{L}/u.test(table[byte] ?? '')))
}

/** Returns the max share of these letters in a language that also has most of the encoding's own letters. */
function bestShare(letters: readonly Letter[], encoding: string, languages: readonly string[]): number {
  const [table, usual] = [tableOf(encoding), tableOf(western)]
  const own = letters.filter(({ byte }) => table[byte] !== usual[byte])
  const shares = languages.map(language => {
    const share = (some: readonly Letter[]) =>
      total(some.filter(({ byte }) => language.includes(table[byte] ?? ''))) / total(some)
    return own.length > 0 && share(own) < minShare ? 0 : share(letters)
  })
  return Math.max(...shares)
}

function total(letters: readonly Letter[]): number {
  return letters.reduce((sum, { count }) => sum + count, 0)
}

/** Returns the letter of each byte beyond ASCII, in lower case. */
function tableOf(encoding: string): string[] {
  const decoder = new TextDecoder(encoding)
  return Array.from({ length: 256 }, (_, byte) =>
    byte < 0x80 ? '' : decoder.decode(Uint8Array.of(byte)).toLowerCase().charAt(0),
  )
}
