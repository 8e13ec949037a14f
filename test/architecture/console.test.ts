import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { writtenOut } from './written-out.ts'

/** What the folders of the console may import of it, beside themselves. */
const layers: Record<string, readonly string[]> = {
  api: ['i18n'],
  i18n: ['api'],
  ui: ['api', 'i18n'],
  shell: ['ui', 'api', 'i18n'],
  features: ['shell', 'ui', 'api', 'i18n'],
}
const root = 'console/src/'

/** Statements with the file that they name, types among them. */
const statement = /^\s*(import type|import|export)\b[^'"]*?from '([.#][^']+)'|import\('([.#][^']+)'\)/gm

interface Import {
  from: string
  to: string
  isType: boolean
}

const imports = globSync(`${root}**/*.{ts,tsx}`).flatMap(from =>
  [...readFileSync(from, 'utf8').matchAll(statement)].map(([, kind, name = '', dynamic]): Import => {
    const path = dynamic ?? name
    return {
      from,
      to: path.startsWith('.') ? join(dirname(from), path) : resolved(path),
      isType: kind === 'import type',
    }
  }),
)

function resolved(path: string): string {
  return path.startsWith('#console/') ? path.replace('#console/', root) : path.replace('#', 'src/')
}

const partOf = (file: string) => file.slice(root.length).split('/')[0] ?? ''
const featureOf = (file: string) => /^console\/src\/features\/([^/]+)\//.exec(file)?.[1]

function problemOf({ from, to, isType }: Import): string | undefined {
  if (!to.startsWith(root))
    return isType && to.endsWith('.schema.ts') ? undefined : 'of the service, only types of its schemas'
  const [part, other] = [partOf(from), partOf(to)]
  if (part === other)
    return featureOf(from) === featureOf(to) ? undefined : 'features import each other nowhere'
  const isEntry = from.split('/').length === 3
  return isEntry || layers[part]?.includes(other) ? undefined : `${part} may not import ${other}`
}

it('the parts of the console import downwards, and features import each other nowhere', () => {
  expect(imports.length).toBeGreaterThan(100)
  const broken = imports.filter(one => problemOf(one) !== undefined)
  expect(broken.map(one => `${one.from} → ${one.to}: ${problemOf(one)}`)).toEqual([])
})

it.each([
  ['ui/list.tsx', 'console/src/features/agents/home.tsx', 'ui may not import features'],
  ['ui/list.tsx', 'console/src/shell/agent.tsx', 'ui may not import shell'],
  ['features/chat/chat.tsx', 'console/src/features/agents/home.tsx', 'features import each other nowhere'],
  ['features/chat/chat.tsx', 'src/features/chat/chat.service.ts', 'of the service'],
])('%s may not import %s', (from, to, problem) => {
  expect(problemOf({ from: root + from, to, isType: true })).toContain(problem)
})

it('features of the console have the names of the service’s', () => {
  const names = (folder: string) =>
    globSync(`${folder}*/`).map(path => path.split('/').filter(Boolean).at(-1))
  expect(names(`${root}features/`).filter(name => !names('src/features/').includes(name))).toEqual([])
})

const sources = globSync(`${root}**/*.{ts,tsx}`, { exclude: ['**/*.test.ts'] }).map(
  file => [file, readFileSync(file, 'utf8')] as const,
)

/** What a single file does for all, or none does. */
const reserved: [string, RegExp, string?][] = [
  ['parameters of an address without types', /strict: false/],
  [
    'keys, of which an input method may take any',
    /['"]Enter['"]|\bevent\.key\b|\bisComposing\b|\bkeyCode\b|\bonKey\w+=\{(?!on(?:Keys|Enter)\(|\w+\})/,
    'ui/keys.ts',
  ],
]

it.each(reserved)('no other file handles %s', (_, pattern, file) => {
  const found = sources.filter(([, text]) => pattern.test(text)).map(([name]) => name)
  expect(found).toEqual(file === undefined ? [] : [root + file])
})

/** A path with a star for each parameter. */
const shapeOf = (path: string) => path.replaceAll(/\$\{[^}]*\}|\$\w+/g, '*')

it('links lead to views', () => {
  const views = sources.flatMap(([, text]) => [...text.matchAll(/^ +(?:defineView\(\{ )?path: '(.+?)'/gm)])
  const paths = new Set(views.map(([, path = '']) => shapeOf(path)))
  const links = sources.flatMap(([file, text]) => {
    const flat = text.replaceAll(/\$\{path`(.*?)`\}/g, '$1')
    return [...flat.matchAll(/\.home\}\/([a-z][^`?]*)/g)].map(
      ([, path = '']) => [file, shapeOf(path)] as const,
    )
  })
  expect([paths.size > 20, links.length > 20]).toEqual([true, true])
  expect(links.filter(([, path]) => !paths.has(path))).toEqual([])
})

it('every word of the console is in a table of texts, which other languages have too', () => {
  const tables = ['i18n/{en,de}.ts', 'features/**/{text,de,feature}.ts', '**/*.test.ts'].map(
    path => root + path,
  )
  const files = globSync(`${root}**/*.{ts,tsx}`, { exclude: tables })
  expect(files.length).toBeGreaterThan(100)
  const found = files.map(file => {
    const lang = file.endsWith('x') ? 'tsx' : 'ts'
    return [file, writtenOut(readFileSync(file, 'utf8'), lang)] as const
  })
  expect(found.filter(([, words]) => words.length > 0)).toEqual([])
})

it.each([
  ['<p>Not this {t.one}</p>', ['Not this']],
  ['<p>\n  {count} pages\n</p>', ['pages']],
  ['<input aria-label="Name" placeholder={isNew ? "any" : t.name} />', ['Name', 'any']],
  [`<Empty title={\`\${count} left\`} text={t.none ?? ("x" + t.more)} />`, ['left', 'x']],
  ['<b>{isDone && "done"}</b>', ['done']],
  ['toast("It was saved")', ['It was saved']],
  [`const said = { text: \`All of \${name} is gone\` }`, ['All of']],
  ['<p className="a b" role="alert">{t.one} · {["a"].join(kind)} {t[kind === "a" ? "b" : "c"]}</p>', []],
  ['throw new Error("It is used outside of a view")', []],
  ['send("settings", "application/json")', []],
  [`<b title={\`\${home}/settings\`}>agentstead</b>`, []],
  ['const schema = { title: t.query, examples: ["SELECT name FROM"] }', []],
])('of %s the words %j are in no table', (source, words) => {
  expect(writtenOut(source)).toEqual(words)
})
