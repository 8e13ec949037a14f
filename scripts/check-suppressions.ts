/** Fails when a source or settings file switches a check off for some lines: a rule holds for all, or is changed for all. */
import { globSync, readFileSync } from 'node:fs'

const suppression =
  /(?:biome|eslint|oxlint)-(?:ignore|disable)|@ts-(?:ignore|expect-error|nocheck)|(?:c8|v8|istanbul) ignore/

/** What is not ours, or not kept. */
const foreign = /(?:^|\/)node_modules(?:\/|$)|^(?:\.git|data|coverage)\//

const files = globSync('**/*.{ts,tsx,js,mjs,json}', {
  exclude: path => foreign.test(path),
}).filter(file => !foreign.test(file))

const found = files.toSorted().flatMap(file =>
  readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((text, index) => (suppression.test(text) ? [`${file}:${index + 1}: ${text.trim()}`] : [])),
)

if (found.length > 0) {
  console.error(`Suppressions are not allowed; mend the code, or change the rule:\n${found.join('\n')}`)
  process.exitCode = 1
}
