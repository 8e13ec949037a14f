/** No input may keep others waiting: each that once did, or could, is handled beside a probe of `/healthz`. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { browserPath, type Executed, openSession } from '../support/action-stage.ts'
import { makeAgent } from '../support/agents.ts'
import { type Answer, buildApp, type CallOptions, type TestApp } from '../support/build-app.ts'
import { startCrawl } from '../support/crawl.ts'
import { makeZipBombDocx } from '../support/documents.ts'
import { eventually } from '../support/eventually.ts'
import { type HostileGraph, hostileGraphs } from '../support/hostile/graphs.ts'
import { hostilePages } from '../support/hostile/pages.ts'
import { longestBlock } from '../support/longest-block.ts'
import { slowness } from '../support/processor-time.ts'
import { isInRotation } from '../support/rotation.ts'
import { type Site, startSite } from '../support/site-server.ts'
import { numbers } from '../support/sql-stage.ts'
import { formOf, upload } from '../support/upload.ts'
import { workflowCalls } from '../support/workflows.ts'

const maxSliceMs = 250

let app: TestApp
let site: Site
let origin: string

beforeAll(async () => {
  site = await startSite(({ path }) => hostilePages[Number(path.slice(1))]?.html)
  app = await buildApp({ environment: { DEV_USER: 'dev@example.com', OUTBOUND_ALLOW: '127.0.0.1' } })
  origin = await app.listen()
})
afterAll(async () => {
  await app.close()
  await site[Symbol.asyncDispose]()
})

type Run = () => Promise<unknown>

interface Row {
  name: string
  /** Makes the input, since the test has the same thread as the service; what is measured is the run that it gives. */
  prepare(): Run | Promise<Run>
}

/** A call with an answer of this status. */
async function answered(status: number, method: string, path: string, options: CallOptions): Promise<Answer> {
  const answer = await app.call(method, path, options)
  expect(answer.status, JSON.stringify(answer.body).slice(0, 500)).toBe(status)
  return answer
}

const graph = ({ name, workflow, input, ends }: HostileGraph): Row => ({
  name: `graph: ${name}`,
  prepare: () => async () => {
    const calls = workflowCalls(app)
    const { body } = await app.call<{ id: string }>('POST', '/api/agents/default/workflows', {
      body: workflow,
    })
    const { status, error, node_results } = await calls.run(body.id, input)
    expect(status).toBe(ends.status)
    if (ends.error !== null) expect(error).toMatch(ends.error)
    for (const { warnings } of node_results) expect(warnings.length).toBeLessThanOrEqual(51)
  },
})

const people = (rows: number, row: (at: number) => string) =>
  `name,notes\n${Array.from({ length: rows }, (_, at) => row(at)).join('\n')}`

const formOfPeople = (file: string) => formOf([['file', new File([file], 'people.csv')]])

async function importContacts(status: number, file: string): Promise<Run> {
  const path = `/api/agents/${await makeAgent(app)}/contacts/import`
  const form = await formOfPeople(file)
  return () => answered(status, 'POST', path, form)
}

/** The path of 1,000 contacts with long notes, which all that read them share. */
let thousand: Promise<string> | undefined

async function importThousand(): Promise<string> {
  const path = `/api/agents/${await makeAgent(app)}/contacts`
  const notes = 'x'.repeat(19_000)
  const form = await formOfPeople(people(1_000, at => `Ada ${at},${notes}`))
  await answered(200, 'POST', `${path}/import`, form)
  return path
}

/** Read as it comes, as clients do that keep none of it. */
async function readThousand(query: string): Promise<Run> {
  thousand ??= importThousand()
  const path = await thousand
  return async () => {
    const { body } = await fetch(`${origin}${path}${query}`)
    let bytes = 0
    for await (const chunk of body ?? []) bytes += chunk.length
    expect(bytes).toBeGreaterThan(19_000_000)
  }
}

const contacts: Row[] = [
  {
    name: 'contacts: 40,000 rows of one name without address',
    prepare: () =>
      importContacts(
        200,
        people(40_000, at => `Ada,${at}`),
      ),
  },
  {
    name: 'contacts: a header of 450,000 columns',
    prepare: () => importContacts(400, `name${',x'.repeat(450_000)}\nAda`),
  },
  {
    name: 'contacts: a row over 1 MiB',
    prepare: () => importContacts(400, `name,notes\nAda,"${'x\n'.repeat(600_000)}"`),
  },
  { name: 'contacts: an export of 19 MB as CSV', prepare: () => readThousand('/export?format=csv') },
  { name: 'contacts: an export of 19 MB as JSON', prepare: () => readThousand('/export?format=json') },
  { name: 'contacts: a list of 19 MB', prepare: () => readThousand('?limit=1000') },
]

/** In a session of its own, which may be ended for it: what failed says why. */
async function act(actions: object[], endsSession = false): Promise<Run> {
  const id = await openSession(app)
  const body = { actions: actions.map(action => ({ timeout: 1_000, ...action })) }
  return async () => {
    const answer = await answered(200, 'POST', `${browserPath}/${id}/execute`, { body })
    for (const { success, error } of (answer.body as Executed).results ?? [])
      if (!success) expect(error).toMatch(/[.]$/)
    const isEnded = async () =>
      expect(await app.call('GET', `${browserPath}/${id}`)).toMatchObject({ body: { status: 'error' } })
    if (endsSession) await eventually(isEnded, 120_000)
    else await app.call('DELETE', `${browserPath}?id=${id}`)
  }
}

/** Time for the page to do it again. */
const lookOn = { action: 'evaluate', expression: 'new Promise(resolve => setTimeout(resolve, 300))' }

const browser: Row[] = [
  ...hostilePages.map(({ name, endsSession }, at) => ({
    name: `browser: ${name}`,
    prepare: () => act([{ action: 'navigate', url: `${site.url}/${at}` }, lookOn], endsSession),
  })),
  {
    name: 'browser: a value of 500 MB',
    prepare: () => act([{ action: 'evaluate', expression: "'x'.repeat(5e8)", timeout: 10_000 }]),
  },
]

const json = { 'content-type': 'application/json' }
const post = (status: number, path: string, payload: string) => () => () =>
  answered(status, 'POST', path, { payload, headers: json })

const others: Row[] = [
  {
    name: 'a Word document that is a bomb',
    async prepare() {
      const content = makeZipBombDocx(60_000_000)
      return async () => {
        expect(await upload(app, { name: 'bomb.docx', content })).toMatchObject({ status: 201 })
        await app.service.infrastructure.runner.idle()
      }
    },
  },
  {
    name: 'patterns of addresses that backtrack',
    prepare: () => async () => {
      const patterns = [`/${'*a'.repeat(95)}b`, `/${'**/'.repeat(60)}b`, `/${'{a,a}'.repeat(5)}b`]
      const url = `${site.url}/${'a'.repeat(1_900)}`
      const started = await startCrawl(app, { url, includePatterns: patterns })
      expect(started, JSON.stringify(started.body)).toMatchObject({ status: 201 })
      await app.service.infrastructure.runner.idle()
    },
  },
  {
    name: 'a schema with patterns that backtrack',
    prepare: post(
      201,
      '/api/agents/default/tools',
      JSON.stringify({
        name: 'slow',
        type: 'http',
        configuration: {
          url: 'https://example.com/{a}',
          method: 'GET',
          parameters: {
            type: 'object',
            properties: { a: { type: 'string', pattern: '^(a+)+$', default: `${'a'.repeat(50)}b` } },
          },
        },
      }),
    ),
  },
  {
    name: 'SQL that counts in a recursion',
    prepare: post(
      200,
      '/api/agents/default/sql/execute',
      JSON.stringify({ query: `${numbers(500_000)} SELECT count(*) FROM n` }),
    ),
  },
  { name: 'deep JSON', prepare: post(400, '/api/agents/default/contacts', '['.repeat(1_000_000)) },
  {
    name: 'JSON of many values',
    prepare: post(400, '/api/agents/default/contacts', `[${'{},'.repeat(300_000)}1]`),
  },
  {
    name: 'deep JSON where files are sent',
    prepare: post(400, '/api/agents/default/browser/none/execute', '['.repeat(20_000_000)),
  },
  {
    name: 'JSON of many values where files are sent',
    prepare: post(400, '/api/agents/default/browser/none/execute', `[${'{},'.repeat(8_000_000)}1]`),
  },
]

const rows = [...hostileGraphs(0.2).map(graph), ...contacts, ...browser, ...others].filter((_row, number) =>
  isInRotation(number),
)

it.each(rows.map(row => [row.name, row] as const))('%s', async (_name, { prepare }) => {
  const run = await prepare()
  // The work of making the input is no part of it.
  await delay(0)
  let isDone = false
  const work = async () => {
    await run().finally(() => {
      isDone = true
    })
  }
  const probe = async () => {
    for (let probes = 0; !isDone && probes < 3_000; probes += 1) {
      expect(await app.call('GET', '/healthz')).toMatchObject({ status: 200 })
      await delay(20)
    }
  }
  expect(await longestBlock(() => Promise.all([work(), probe()]))).toBeLessThan(maxSliceMs)
})

it('a slice that is too long is seen', async () => {
  const busy = async () => {
    await delay(0)
    for (let n = 0; n < 8; n += 1) slowness()
  }
  expect(await longestBlock(busy)).toBeGreaterThan(maxSliceMs)
})
