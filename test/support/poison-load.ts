/** Jobs that reach a server, which kills the process that asks it for something poisonous; and what must come of them all. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Execution, Started, Workflow } from '#features/workflows/workflows.schema.ts'
import { type CrawledSource, startCrawl } from './crawl.ts'
import type { ServerProcess } from './server-process.ts'
import { page } from './site-server.ts'
import { edgesOf, nodesOf } from './workflows.ts'

const agent = '/api/agents/default'
/** Of each kind: a workflow and a crawl. */
const others = 10
/** Milliseconds: a culprit is begun alone twice, 10 s after a start each. */
const limit = 300_000

type Call = ServerProcess['call']

/** The process that has this end of a connection on this machine. */
function processAt(port: number, processes: readonly number[]): number | undefined {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const line = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .find(one => one.trim().split(/\s+/)[1] === local)
  const socket = `socket:[${line?.trim().split(/\s+/)[9]}]`
  return processes.find(pid =>
    readdirSync(`/proc/${pid}/fd`).some(fd => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`) === socket
      } catch {
        return false
      }
    }),
  )
}

/** @param processes the ids of those that serve now. */
export async function poisonLoad(processes: () => number[]) {
  const starts = new Map<string, number>()
  const server = createServer(async ({ url = '', socket }, response) => {
    if (url.startsWith('/poison')) {
      const pid = processAt(socket.remotePort ?? 0, processes())
      if (pid === undefined) throw new Error('nothing is known of the process that has asked')
      starts.set(url, (starts.get(url) ?? 0) + 1)
      process.kill(pid, 'SIGKILL')
      return
    }
    await delay(300)
    response.writeHead(url.startsWith('/good') ? 200 : 404, { 'content-type': 'text/html' }).end(page(url))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const executions = new Map<string, string>()
  const crawls = new Map<string, string>()

  /** Until a process lives long enough to answer. */
  async function insist<Result>(work: () => Promise<Result>): Promise<Result> {
    for (;;)
      try {
        return await work()
      } catch {
        await delay(100)
      }
  }

  return {
    async begin(call: () => Call): Promise<void> {
      const nodes = nodesOf({
        start: { type: 'trigger' },
        ask: { type: 'http-request', method: 'POST', url: `${at}/{{input.path}}` },
      })
      const definition = {
        name: 'Ask',
        status: 'active',
        concurrency: 100,
        nodes,
        edges: edgesOf('start > ask'),
      }
      const { body: workflow } = await call()<Workflow>('POST', `${agent}/workflows`, { body: definition })
      const ask = async (path: string) => {
        const body = { workflow_id: workflow.id, input: { path } }
        const answer = await insist(() => call()<Started>('POST', `${agent}/workflows/execute`, { body }))
        executions.set(path, answer.body.execution_id)
      }
      const read = async (path: string) => {
        const start = { url: `${at}/${path}`, maxDepth: 0, useSitemap: false }
        const answer = await insist(() => startCrawl({ call: call() }, start))
        crawls.set(path, answer.body.id)
      }
      for (let one = 0; one < others; one += 1) {
        await ask(`good/execution/${one}`)
        await read(`good/crawl/${one}`)
      }
      await ask(`poison/execution/${randomUUID()}`)
      await read(`poison/crawl/${randomUUID()}`)
    },

    async expectEnds(call: () => Call): Promise<void> {
      const begun = performance.now()
      const ends = async () => {
        const found: string[] = []
        for (const [path, id] of executions) {
          const { body } = await call()<Execution>('GET', `${agent}/workflows/executions/${id}`)
          found.push(`${path.split('/').slice(0, 2)}: ${body.status} ${body.error ?? ''}`)
        }
        for (const [path, id] of crawls) {
          const { body } = await call()<CrawledSource>('GET', `${agent}/sources/${id}`)
          found.push(`${path.split('/').slice(0, 2)}: ${body.status} ${body.error ?? ''}`)
        }
        return found
      }
      let found: string[] = []
      for (let isDone = false; !isDone && performance.now() - begun < limit; await delay(500)) {
        found = await insist(ends)
        isDone = !found.some(end => /: (?:queued|running|waiting|crawling|pending|processing)/.test(end))
      }
      const endsOf = (kind: string) => found.filter(end => end.startsWith(kind))
      expect(endsOf('good,execution')).toEqual(Array(others).fill('good,execution: complete '))
      expect(endsOf('good,crawl')).toEqual(Array(others).fill('good,crawl: ready '))
      for (const kind of ['poison,execution: errored', 'poison,crawl: error'])
        expect(endsOf('poison')).toContainEqual(expect.stringMatching(`^${kind}.*It ended the service`))
      expect([...starts.values()]).toEqual([4, 4])
    },

    [Symbol.dispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
