import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import type { Question } from '#test/support/chat-model.ts'
import { done, madePages, type Step } from '#test/support/made-pages.ts'
import {
  type ModelServer,
  openaiText,
  openaiToolCall,
  type Reply,
  startModelServer,
} from '#test/support/model-server.ts'
import { type Site, startSite } from '#test/support/site-server.ts'

/** How many are worked on at once. */
const atOnce = 4
/** A turn has eight calls. */
const maxMessages = 4
/** Of a page for what has yet to come to it. */
const maxReads = 12

let app: TestApp
let site: Site
let server: ModelServer

beforeAll(async () => {
  // The first part of the path is the number of the page.
  site = await startSite(({ path }) => {
    const [, number, rest = ''] = /^\/(\d+)(\/[^?]*)/.exec(path) ?? []
    return madePages[Number(number)]?.pages[rest]?.replaceAll('"/', `"/${number}/`)
  })
  server = await startModelServer(({ method, body }) =>
    method === 'POST' ? scripted(body as Question) : { json: { data: [{ id: 'fake-model' }] } },
  )
  app = await buildApp({
    environment: {
      OPENAI_COMPATIBLE_BASE_URL: server.url,
      DEFAULT_PROVIDER: 'openai-compatible',
      DEFAULT_MODEL: 'fake-model',
      DEV_USER: 'dev@example.com',
      OUTBOUND_ALLOW: '127.0.0.1',
    },
  })
})

afterAll(async () => {
  await app?.close()
  await server?.[Symbol.asyncDispose]()
  await site?.[Symbol.asyncDispose]()
})

interface Work {
  steps: Step[]
  /** Texts of results, the newest first. */
  seen: string[]
  reads: number
}
const works = new Map<string, Work>()

/** A model that knows the tools and the texts of their results, and looks again where it does not find what it looks for. */
function scripted({ messages, tools = [] }: Question): Reply {
  const key =
    /page (\d+)/.exec(JSON.stringify(messages.find(({ role }) => role === 'user')?.content))?.[1] ?? ''
  const work = works.get(key)
  const last = messages.at(-1)
  if (work === undefined || tools.length === 0) return { stream: openaiText('To be continued.') }
  if (last?.role === 'tool') work.seen.unshift(String(last.content))
  const next = nextCall(work, `${site.url}/${key}`)
  return {
    stream: next === undefined ? openaiText('Finished.') : openaiToolCall(`browser_${next[0]}`, next[1]),
  }
}

function nextCall(work: Work, base: string): [tool: string, given: object] | undefined {
  const [step] = work.steps
  if (step === undefined) return undefined
  const [tool, words, given = {}] = step
  const line = work.seen
    .flatMap(text => text.split('\n'))
    .find(one => words && one.includes(words) && one.includes('[ref='))
  const ref = /\[ref=(\w+)\]/.exec(line ?? '')?.[1]
  if (words !== undefined && ref === undefined) {
    work.reads += 1
    if (work.reads > maxReads) return undefined
    return ['read', work.reads % 2 === 1 ? {} : { find: words.replace(/^\w+ "|"$/g, '') }]
  }
  work.steps.shift()
  work.reads = 0
  if (tool === 'navigate') return ['navigate', { url: base + String((given as { url: string }).url) }]
  return [tool, { ...given, ...(ref && { ref }) }]
}

/** What the model has seen, the newest first. */
async function workOn(number: number): Promise<string[]> {
  const steps: Step[] = [
    ['navigate', undefined, { url: '/' }],
    ...(madePages[number]?.steps ?? []),
    ['read', undefined, { find: done }],
  ]
  const work: Work = { steps, seen: [], reads: 0 }
  works.set(String(number), work)
  const chat = `/api/agents/${await makeAgent(app)}`
  const browse_hosts = [new URL(site.url).host]
  await app.call('PUT', `${chat}/settings`, { body: { browser_tools: true, browse_hosts } })
  let conversationId: string | undefined
  for (let message = 0; message < maxMessages && work.steps.length > 0; message += 1) {
    const body = {
      content: `Work on page ${number}.`,
      autoRag: false,
      ...(conversationId && { conversationId }),
    }
    const answer = await app.call<{ assistantMessage: { conversationId: string } }>('POST', `${chat}/chat`, {
      body,
    })
    if (answer.status !== 200) return [JSON.stringify(answer.body)]
    conversationId = answer.body.assistantMessage.conversationId
  }
  return work.seen
}

it('a model that knows only the tools does what people do on twenty pages', async () => {
  const failed: string[] = []
  const queue = madePages.keys()
  const worker = async () => {
    for (const number of queue) {
      const seen = await workOn(number)
      const isDone = seen[0]?.includes(done) && !seen[0].includes('0 lines were found')
      if (!isDone) failed.push(`${madePages[number]?.task}:\n${seen.toReversed().join('\n--\n')}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  expect(madePages).toHaveLength(20)
  expect(failed).toEqual([])
})
