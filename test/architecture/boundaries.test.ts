import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { findCircles, type Import, readImports } from './imports.ts'

/** What the files of a layer may import, beside each other. Features know no engine: those lie in folders of their own. */
const layers: Record<string, readonly string[]> = {
  platform: [],
  configuration: ['platform'],
  // Which engine it is, is asked in one place each for transfers and for search threads.
  storage: ['storage/sqlite', 'storage/postgres', 'platform'],
  'storage/sqlite': ['storage', 'platform'],
  'storage/postgres': ['storage', 'platform'],
  documents: ['platform'],
  models: ['platform'],
  sandbox: ['storage', 'storage/sqlite', 'storage/postgres', 'platform'],
  infrastructure: [
    'storage',
    'storage/sqlite',
    'storage/postgres',
    'models',
    'sandbox',
    'configuration',
    'platform',
  ],
  doctor: ['infrastructure', 'configuration', 'storage', 'storage/sqlite', 'platform'],
  features: ['infrastructure', 'storage', 'documents', 'models', 'sandbox', 'platform'],
}

/** Which other features a feature may enter, through its doors: only features above it in this table. */
const features: Record<string, readonly string[]> = {
  access: [],
  audit: [],
  agents: ['access', 'audit'],
  sql: ['agents'],
  browser: ['agents', 'access'],
  contacts: ['agents'],
  knowledge: ['agents'],
  sources: ['knowledge', 'sql'],
  mcp: [],
  tools: ['mcp'],
  payments: ['agents', 'access'],
  usage: ['access'],
  chat: ['knowledge', 'agents', 'usage'],
  'mcp-endpoint': ['chat', 'knowledge', 'agents', 'payments'],
  openai: ['chat', 'knowledge', 'agents', 'access', 'payments'],
  webhooks: [],
  channels: ['agents', 'contacts', 'chat'],
  'sign-in': ['access', 'channels'],
  workflows: ['chat', 'channels', 'browser', 'agents'],
  schedules: ['workflows', 'chat', 'agents'],
  calendar: ['workflows', 'agents'],
  notices: ['access', 'agents', 'audit', 'browser', 'channels', 'chat', 'contacts', 'workflows'],
  overview: ['agents', 'chat'],
}

/** Folders of one feature that import each other: debts, of which there may be no more. */
const mutualFolders = ['sources/fetching ↔ sources/ingestion', 'tools/calling ↔ tools/openapi']

/**
 * The folders of large features, from the lowest up: a folder imports only those before it. The files beside the folders come
 * last, but for the contract, which all of them may import.
 */
const floors: Record<string, readonly string[]> = {
  browser: [
    'in-page',
    'secrets',
    'chromium',
    'sessions',
    'outline',
    'profiles',
    'live',
    'takeovers',
    'recordings',
    'actions',
    'rendering',
    'channels',
    'tools',
  ],
  chat: ['form', 'turn', 'rows', 'conversations', 'files', 'waiting', 'answering', 'approvals', 'background'],
  workflows: ['engine', 'rows', 'nodes', 'definitions', 'executions', 'hooks'],
}

/** Schemas, events, states and the reach of callers. */
const contract = /\.(?:schema|events)\.ts$|-status\.ts$|\/reach\.ts$/

/** True if a folder of a large feature imports one that comes after it. */
function pointsUp({ from, to }: Import): boolean {
  const feature = featureOf(from)
  const order = floors[feature ?? '']
  if (order === undefined || feature !== featureOf(to)) return false
  const isContract = contract.test(to) && folderOf(to) === undefined
  return !isContract && levelOf(from, order) < levelOf(to, order)
}

function levelOf(file: string, order: readonly string[]): number {
  const [, folder] = folderOf(file)?.split('/') ?? []
  return folder === undefined ? order.length : order.indexOf(folder)
}

/** The files by which a feature is entered from outside. */
const doors = /\.(?:feature|service|events)\.ts$/

/** The deepest layer that the file is in; undefined for the entries of processes, which may import everything. */
function layerOf(file: string): string | undefined {
  return Object.keys(layers)
    .filter(layer => file.startsWith(`src/${layer}/`))
    .toSorted((one, other) => other.length - one.length)[0]
}

/** The feature that the file belongs to; undefined for what all features share. */
function featureOf(file: string): string | undefined {
  return /^src\/features\/([^/]+)\//.exec(file)?.[1]
}

/** The folder within its feature that the file is in; undefined for files at the top of a feature. */
function folderOf(file: string): string | undefined {
  return /^src\/features\/([^/]+\/[^/]+)\//.exec(file)?.[1]
}

/** Pairs of folders of one feature that import each other. */
function findMutualFolders(imports: readonly Import[]): string[] {
  const within = imports.filter(({ from, to }) => featureOf(from) === featureOf(to))
  const pairs = within.map(({ from, to }) => [folderOf(from), folderOf(to)])
  const arrows = new Set(pairs.map(pair => pair.join(' ↔ ')))
  return [...arrows].filter(arrow => {
    const [one = '', other = ''] = arrow.split(' ↔ ')
    return one !== '' && one < other && arrows.has(`${other} ↔ ${one}`)
  })
}

function problemOf({ from, to }: Import): string | undefined {
  const [layer, other] = [layerOf(from), layerOf(to)]
  if (layer === undefined) return undefined
  if (other === undefined || (layer !== other && !layers[layer]?.includes(other)))
    return `${layer} may not import ${other ?? 'the entries'}`
  const [feature, entered] = [featureOf(from), featureOf(to)]
  if (entered === undefined || feature === entered) return undefined
  if (feature === undefined || !features[feature]?.includes(entered))
    return `${feature ?? 'what features share'} may not enter ${entered}`
  return doors.test(to) ? undefined : `${entered} is entered by its ${doors.source} only`
}

describe('boundaries', () => {
  const imports = readImports()

  it('are kept by every file', () => {
    expect(imports.length).toBeGreaterThan(1000)
    const broken = imports.map(one => ({ ...one, problem: problemOf(one) })).filter(({ problem }) => problem)
    expect(broken.map(({ from, to, problem }) => `${from} → ${to}: ${problem}`)).toEqual([])
  })

  it('let no folder of a large feature import those above it', () => {
    expect(imports.filter(pointsUp).map(({ from, to }) => `${from} → ${to}`)).toEqual([])
  })

  it('name every folder of a large feature', () => {
    const names = imports.flatMap(({ from }) => folderOf(from) ?? [])
    const found = [...new Set(names)].filter(name => floors[name.split('/')[0] ?? ''] !== undefined)
    const named = Object.entries(floors).flatMap(([feature, order]) =>
      order.map(folder => `${feature}/${folder}`),
    )
    expect(found.toSorted()).toEqual(named.toSorted())
  })

  it('are told for every feature', () => {
    const known = new Set(imports.flatMap(({ from }) => featureOf(from) ?? []))
    expect(Object.keys(features).toSorted()).toEqual([...known].toSorted())
  })

  it('lead from each feature to features above it only, and each of those is entered', () => {
    const names = Object.keys(features)
    const entered = new Set(imports.map(({ from, to }) => `${featureOf(from)} → ${featureOf(to)}`))
    const arrows = names.flatMap(from => (features[from] ?? []).map(to => ({ from, to })))
    const wrong = arrows.filter(
      ({ from, to }) => names.indexOf(to) >= names.indexOf(from) || !entered.has(`${from} → ${to}`),
    )
    expect(wrong).toEqual([])
  })

  it('list the features in the order in which the service makes them', () => {
    const made = readFileSync('src/compose.ts', 'utf8').matchAll(
      /add\(\s*(?:await )?create(\w+)\(infrastructure/g,
    )
    const kebab = (name: string) => name.replaceAll(/(?<=[a-z])[A-Z]/g, letter => `-${letter}`).toLowerCase()
    expect([...made].map(([, name = '']) => kebab(name))).toEqual(Object.keys(features))
  })

  it('hand on to a feature by name, and no whole feature', () => {
    const text = readFileSync('src/compose.ts', 'utf8')
    const names = [...text.matchAll(/const (\w+) = add\(/g)].map(([, name]) => name)
    expect(names.length).toBeGreaterThan(10)
    expect(names.filter(name => text.includes(`...${name},`) || text.includes(`...${name} `))).toEqual([])
  })

  it('lead one way between the folders of a feature, but for known debts', () => {
    expect(findMutualFolders(imports).toSorted()).toEqual(mutualFolders)
  })

  it('have no circles, types included', () => {
    expect(findCircles(imports)).toEqual([])
  })

  it.each([
    ['src/platform/ids.ts', 'src/storage/tables.ts', 'platform may not import storage'],
    [
      'src/features/sql/sql.service.ts',
      'src/storage/sqlite/engine.ts',
      'features may not import storage/sqlite',
    ],
    ['src/features/mcp/mcp.service.ts', 'src/features/tools/tools.service.ts', 'mcp may not enter tools'],
    ['src/features/chat/chat.feature.ts', 'src/features/agents/policy.ts', 'agents is entered by'],
    ['src/features/access/policy.ts', 'src/app.ts', 'features may not import the entries'],
  ])('tell that %s may not import %s', (from, to, problem) => {
    expect(problemOf({ from, to })).toContain(problem)
  })

  it('find folders that import each other', () => {
    const mutual = [
      { from: 'src/features/sql/a/one.ts', to: 'src/features/sql/b/two.ts' },
      { from: 'src/features/sql/b/three.ts', to: 'src/features/sql/a/four.ts' },
      { from: 'src/features/sql/a/one.ts', to: 'src/features/sql/c/five.ts' },
    ]
    expect(findMutualFolders(mutual)).toEqual(['sql/a ↔ sql/b'])
  })

  it('find a circle', () => {
    const circle = [
      { from: 'a', to: 'b' },
      { from: 'b', to: 'c' },
      { from: 'c', to: 'b' },
    ]
    expect(findCircles(circle)).toEqual([['b', 'c', 'b']])
  })
})
