import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** Files that still spread a literal into a literal, to stay short: debts, of which there may be no more. */
const spreading = [
  'src/features/access/keys/keys.service.ts',
  'src/features/audit/recorded-change.ts',
  'src/features/browser/tools/browser-tools.ts',
  'src/features/chat/answering/planning/run-planned.ts',
  'src/features/chat/answering/questions.ts',
  'src/features/chat/background/accept-turn.ts',
  'src/features/chat/chat.feature.ts',
  'src/features/chat/conversations/conversation-starts.ts',
  'src/features/chat/waiting/parking.ts',
  'src/features/openai/responses.ts',
  'src/features/sources/jobs/crawl-source.job.ts',
]

const sources = globSync(['src/**/*.ts', 'console/src/**/*.{ts,tsx}'])
  .filter(file => !/\.test(?:-data)?\.tsx?$/.test(file))
  .map(file => ({ file, text: readFileSync(file, 'utf8') }))

it('no literal is spread into a literal', () => {
  const found = sources.filter(({ text }) => text.includes('...{')).map(({ file }) => file)
  expect(found.toSorted()).toEqual(spreading)
})

it('no module is imported twice, as type and as value', () => {
  const twice = sources.flatMap(({ file, text }) => {
    const modules = Array.from(
      text.matchAll(/^import (?:type )?\{[^}]*\} from '([^']+)'/gm),
      ([, module = '']) => module,
    )
    return modules
      .filter((module, index) => modules.indexOf(module) !== index)
      .map(module => `${file}: ${module}`)
  })
  expect(twice).toEqual([])
})
