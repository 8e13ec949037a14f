/** Numbers in the formats of lists: ECMA-376, part 1, section 17.18.59. */

const ones =
  `zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
  seventeen eighteen nineteen`.split(/\s+/)
const tens = '- - twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')
const irregular: Record<string, string> = Object.fromEntries(
  'one first two second three third five fifth eight eighth nine ninth twelve twelfth'
    .match(/\w+ \w+/g)
    ?.map(pair => pair.split(' ')) ?? [],
)
const endings: Record<string, string> = { one: 'st', two: 'nd', few: 'rd' }
const rules = new Intl.PluralRules('en', { type: 'ordinal' })
const roman = Object.entries({
  m: 1000,
  cm: 900,
  d: 500,
  cd: 400,
  c: 100,
  xc: 90,
  l: 50,
  xl: 40,
  x: 10,
  ix: 9,
  v: 5,
  iv: 4,
  i: 1,
})

const formats = new Map<string, (value: number, pattern: string) => string>([
  ['decimal', String],
  ['none', () => ''],
  ['bullet', () => ''],
  ['decimalZero', value => String(value).padStart(2, '0')],
  ['custom', (value, pattern) => String(value).padStart(/^0*\d/.exec(pattern)?.[0].length ?? 1, '0')],
  ['lowerRoman', romanOf],
  ['upperRoman', value => romanOf(value).toUpperCase()],
  ['lowerLetter', letterOf],
  ['upperLetter', value => letterOf(value).toUpperCase()],
  ['ordinal', value => `${value}${endings[rules.select(value)] ?? 'th'}`],
  ['cardinalText', value => capital(wordsOf(value))],
  ['ordinalText', value => capital(wordsOf(value).replace(/[a-z]+$/, ordinalOf))],
  ['numberInDash', value => `- ${value} -`],
  ['decimalEnclosedParen', value => `(${value})`],
  ['decimalEnclosedFullstop', value => `${value}.`],
  [
    'decimalEnclosedCircle',
    value => (value >= 1 && value <= 20 ? String.fromCharCode(0x245f + value) : `(${value})`),
  ],
])

/** Writes a number; an unknown format becomes digits, with a warning. */
export function numberAs(
  value: number,
  format: string,
  pattern: string,
  warn: (text: string) => void,
): string {
  const write = formats.get(format)
  if (write === undefined) warn(`Numbers of the format ${format} were read as digits.`)
  return (write ?? String)(value, pattern)
}

function romanOf(value: number): string {
  if (value < 1 || value > 10_000) return String(value)
  let [rest, written] = [value, '']
  for (const [sign, worth] of roman) for (; rest >= worth; rest -= worth) written += sign
  return written
}

/** Returns a letter; after the last one they are doubled, tripled and so on. */
function letterOf(value: number): string {
  if (value < 1 || value > 2_600) return String(value)
  return String.fromCharCode(0x61 + ((value - 1) % 26)).repeat(Math.ceil(value / 26))
}

function wordsOf(value: number): string {
  if (value < 0 || value > 99) return String(value)
  const rest = ones[value % 10] ?? ''
  return ones[value] ?? `${tens[Math.floor(value / 10)]}${value % 10 === 0 ? '' : `-${rest}`}`
}

function ordinalOf(word: string): string {
  return irregular[word] ?? `${word.replace(/y$/, 'ie')}th`
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}
