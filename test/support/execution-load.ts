/** Executions whose effects a local server counts by key; and what must have come of them in the end. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Execution, ExecutionSummary, Started, Workflow } from '#features/workflows/workflows.schema.ts'
import { scaled } from './endurance.ts'
import type { ServerProcess } from './server-process.ts'
import { edgesOf, nodesOf } from './workflows.ts'

export const executionCrashes = scaled(200)
/** Milliseconds from the last restart. */
const recoveryLimit = 60_000
const workflows = '/api/agents/default/workflows'
/** A crash cuts off requests; more at a time make it likelier that one of them is at each point. */
const callers = 4
/** Of each caller between two crashes: what is left at the end is to be done within the limit on a small machine. */
const executionsOfCaller = 3

type Call = ServerProcess['call']

/** A server that answers a number for each request, and fails at random. */
async function startEffects(random: () => number) {
  const arrivals = new Map<string, number[]>()
  let count = 0
  const server = createServer((request, response) => {
    const key = String(request.headers['idempotency-key'])
    count += 1
    arrivals.set(key, [...(arrivals.get(key) ?? []), count])
    const isRefused = request.url === '/refused'
    const status = isRefused ? 400 : random() < 0.2 ? 500 : 200
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ arrival: count }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    arrivals,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Branches, joins, a loop, retries, a pause in place and one that outlives the process, and for some a failure at the end. */
function definitionFor(url: string) {
  const retries = { max: 10, delay_seconds: 0.1, factor: 1 }
  const request = (path: string) => ({ type: 'http-request', method: 'POST', url: `${url}${path}`, retries })
  const nodes = {
    start: { type: 'trigger' },
    check: { type: 'if-else', conditions: [{ left: '{{kind}}', operator: 'eq', right: 'good' }] },
    first: request('/first'),
    each: { type: 'loop', items: '{{items}}', concurrency: 2 },
    item: request('/items/{{loop.item}}'),
    rest: { type: 'wait', seconds: 0.2 },
    sleep: { type: 'wait', seconds: 8 },
    good: request('/good'),
    bad: { ...request('/refused'), retries: { max: 0 } },
  }
  const edges = [
    'start > first',
    'start > sleep',
    'first > each',
    'each/item > item',
    'each/done > rest',
    'rest > check',
    'sleep > check',
    'check/true > good',
    'check/false > bad',
  ]
  return {
    name: 'Load',
    status: 'active',
    concurrency: 10_000,
    nodes: nodesOf(nodes),
    edges: edgesOf(...edges),
  }
}

export async function executionLoad(random: () => number) {
  const effects = await startEffects(random)
  let workflow_id = ''
  /** By the key of the request; an execution that nobody was told of is asked for again. */
  const started = new Map<string, { kind: string; id?: string }>()

  async function execute(call: Call, key: string): Promise<void> {
    const known = started.get(key) ?? { kind: random() < 0.8 ? 'good' : 'bad' }
    started.set(key, known)
    const body = { workflow_id, input: { kind: known.kind, items: ['a', 'b', 'c'] } }
    const headers = { 'idempotency-key': key }
    const answer = await call<Started>('POST', `${workflows}/execute`, { body, headers })
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    const id = answer.body.execution_id
    expect(known.id ?? id).toBe(id)
    known.id = id
  }

  async function listOpen(call: Call): Promise<ExecutionSummary[]> {
    const query = 'status=running&status=queued&limit=1000'
    return (await call<{ executions: ExecutionSummary[] }>('GET', `${workflows}/executions?${query}`)).body
      .executions
  }

  function expectEffects(execution: Execution): void {
    const last = execution.input.kind === 'good' ? 'good:' : 'bad:'
    const expected = ['first:', 'item:0', 'item:1', 'item:2', last].map(place => `${execution.id}:${place}`)
    const own = [...effects.arrivals.keys()].filter(key => key.startsWith(execution.id))
    expect(own.toSorted()).toEqual(expected.toSorted())
    for (const { node_id, path, output } of execution.node_results) {
      const arrivals = effects.arrivals.get(`${execution.id}:${node_id}:${path}`)
      // Nothing came after what was recorded.
      if (arrivals !== undefined && node_id !== 'bad')
        expect(output, node_id).toMatchObject({ body: { arrival: arrivals.at(-1) } })
    }
  }

  return {
    async begin(call: Call): Promise<void> {
      const body = definitionFor(effects.url)
      const answer = await call<Workflow>('POST', workflows, { body })
      expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 201 })
      workflow_id = answer.body.id
    },

    /** Starts some executions, unless the server dies before; `begun` is when the first one was accepted. */
    send(callOf: (n: number) => Call) {
      const begun = Promise.withResolvers<void>()
      const untold = [...started].filter(([, { id }]) => id === undefined).map(([key]) => key)
      const sending = Array.from({ length: callers }, async (_, n) => {
        for (let left = executionsOfCaller, isAlive = true; isAlive && left > 0; left -= 1) {
          const key = untold.pop() ?? `key-${started.size}`
          isAlive = await execute(callOf(n), key).then(
            () => {
              begun.resolve()
              return true
            },
            error => {
              if (!(error instanceof TypeError)) throw error
              return false
            },
          )
          await delay(50)
        }
      })
      const ended = Promise.all(sending)
      ended.catch(begun.reject)
      return { begun: begun.promise, ended }
    },

    /** Waits for the end of all, and compares what came of them with what must have. */
    async expectTrueEnds(call: Call): Promise<void> {
      const begun = performance.now()
      for (const [key, { id }] of started) if (id === undefined) await execute(call, key)
      for (let open = await listOpen(call); open.length > 0; open = await listOpen(call)) {
        const left = open.map(({ id, status, waiting_until }) => `${id} ${status} ${waiting_until}`)
        expect(performance.now() - begun, left.join('\n')).toBeLessThan(recoveryLimit)
        await delay(200)
      }
      for (const { id, kind } of started.values()) {
        const { body } = await call<Execution>('GET', `${workflows}/executions/${id}`)
        expect(body.status, JSON.stringify(body)).toBe(kind === 'good' ? 'complete' : 'errored')
        expect(body.node_results.map(({ status }) => status)).not.toContain('running')
        expectEffects(body)
      }
      const { body } = await call<{ meta: { total: number } }>('GET', `${workflows}/executions?limit=1`)
      expect(body.meta.total).toBe(started.size)
      expect(started.size).toBeGreaterThan(executionCrashes)
    },

    [Symbol.dispose]: effects.close,
  }
}
