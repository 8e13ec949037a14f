/**
 * Counts, in the comments and names of `src` and in the documents, words that make plain sentences hard to read. Prints the
 * counts; with `--lines` also each place.
 */
import { globSync, readFileSync } from 'node:fs'

const comment = /^\s*(?:\/?\*+\/?|\/\/)\s?/
const kinds = [
  { name: 'lines that begin with "What"', most: 60, of: 'prose', pattern: /^What\b/g },
  {
    name: 'somebody, anybody, nobody, everybody, whoever, whatever',
    most: 60,
    of: 'prose',
    pattern: /\b(?:somebody|anybody|nobody|everybody|whoever|whatever)\b/gi,
  },
  {
    name: 'tell and ask, used of code',
    most: 40,
    of: 'code',
    pattern: /\b(?:tell|tells|told|telling|ask|asks|asked|asking)(?![a-z])/gi,
  },
] as const

/** The words of names stand apart: `askPerson` holds `ask`. */
const apart = (line: string): string => line.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll('_', ' ')
/** Texts that people read are no code. */
const withoutStrings = (line: string): string =>
  line.replace(/'(?:[^'\\]|\\.)*'|`[^`]*`|"(?:[^"\\]|\\.)*"/g, "''")

const sources = globSync('src/**/*.{ts,mjs}').filter(file => !/\.(?:test|test-data)\.ts$/.test(file))
const documents = globSync(['README.md', 'CONTRIBUTING.md', 'docs/**/*.md', 'src/**/*.md'])
const lines = [...sources, ...documents].toSorted().flatMap(file =>
  readFileSync(file, 'utf8')
    .split('\n')
    .map((text, index) => {
      const isDocument = file.endsWith('.md')
      const isComment = comment.test(text)
      const prose = isDocument || isComment ? text.replace(isDocument ? /^[\s>*-]+/ : comment, '') : ''
      const code = isDocument ? '' : isComment ? prose : apart(withoutStrings(text))
      return { place: `${file}:${index + 1}`, text: text.trim(), prose, code }
    }),
)

for (const { name, most, of, pattern } of kinds) {
  const found = lines.flatMap(line => Array.from(line[of].matchAll(pattern), () => line))
  process.stdout.write(`${found.length} of at most ${most}: ${name}\n`)
  if (process.argv.includes('--lines'))
    for (const { place, text } of found) process.stdout.write(`  ${place}: ${text}\n`)
}
