/**
 * Holds the running service and its tests against the specification. A built row without a test is mended by naming
 * it, with literal arguments, in the title of the test that proves it: see row.ts.
 */
import { globSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../support/build-app.ts'
import { type Addition, additions } from './additions.ts'
import { builtAreas, notYetBuilt } from './built-areas.ts'
import { channels } from './channels.ts'
import { compareMarkers, compareRoutes, routeOf } from './compare.ts'
import { errorRows } from './error-rows.ts'
import { limits } from './limits.ts'
import { namedMarkers } from './named-markers.ts'
import { restRows } from './rest-rows.ts'
import { markerTexts } from './row.ts'
import { streamEvents } from './stream-events.ts'

const built = new Set<string>([...builtAreas, 'shared'])
const pending = new Set<string>(notYetBuilt.map(({ marker }) => marker))

const isBuilt = ({ area = 'shared' }: { area?: string }) => built.has(area)

const documentedRoutes = [
  ...restRows.map(row => ({
    route: routeOf(row.id),
    built: isBuilt(row) && !pending.has(markerTexts.row(row.id)),
    limit: row.limit,
  })),
  ...additions.map((addition: Addition) => ({ route: addition.route, built: isBuilt(addition) })),
  ...channels.map(({ path }) => ({
    route: `GET ${path}`,
    built: isBuilt({ area: 'browser' }) && !pending.has(markerTexts.row(`GET ${path}`)),
    limit: 'browser',
  })),
]

const builtMarkers = [
  ...restRows.filter(isBuilt).map(({ id }) => markerTexts.row(id)),
  ...channels.map(({ path }) => markerTexts.row(`GET ${path}`)),
  ...errorRows.filter(isBuilt).map(({ area, status }) => markerTexts.errorRow(area, String(status))),
  ...limits.filter(isBuilt).map(({ name }) => markerTexts.limitRow(name)),
  ...streamEvents.map(({ type }) => markerTexts.streamEvent(type)),
]

/** The verbs with which summaries begin. */
const imperatives = new Set(
  'Add Approve Buy Charge Check Connect Crawl Create Delete End Export Find Get Import List Match Merge Open Process Receive Record Refund Regenerate Reject Remove Replace Request Retry Return Run Search Send Set Start Terminate Test Unmatch Update Verify'.split(
    ' ',
  ),
)

describe('the registered routes', () => {
  let app: Awaited<ReturnType<typeof buildApp>>

  beforeAll(async () => {
    app = await buildApp()
  })

  afterAll(async () => {
    await app.close()
  })

  it('are the built rows and the documented additions, each under its limit', () => {
    expect(compareRoutes(documentedRoutes, app.routes)).toEqual({
      missing: [],
      early: [],
      undocumented: [],
      wrongLimit: [],
    })
  })

  it('have summaries of at most ten words, of which the first is an imperative', async () => {
    const { body } = await app.call<{ paths: Record<string, Record<string, { summary?: string }>> }>(
      'GET',
      '/openapi.json',
    )
    const summaries = Object.values(body.paths)
      .flatMap(methods => Object.values(methods))
      .map(({ summary = '' }) => summary)
    expect(summaries.length).toBeGreaterThan(100)
    const unlike = summaries.filter(summary => {
      const [verb = '', ...others] = summary.split(/,? /)
      return !imperatives.has(verb) || others.length === 0 || others.length > 9 || summary.endsWith('.')
    })
    expect(unlike).toEqual([])
  })
})

describe('the tests', () => {
  const files = globSync('{src,test}/**/*.test.ts').filter(file => !file.startsWith('test/spec/'))
  const named = new Set(files.flatMap(file => [...namedMarkers(readFileSync(file, 'utf8'))]))

  it('name every built row, error, limit and stream event', () => {
    expect(compareMarkers({ expected: builtMarkers, pending, named })).toEqual({ untested: [], stale: [] })
  })
})
