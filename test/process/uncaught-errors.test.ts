import { describe, expect, it, onTestFinished } from 'vitest'
import type { Execution, Started, Workflow } from '#features/workflows/workflows.schema.ts'
import { eventually } from '../support/eventually.ts'
import { startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { edgesOf, nodesOf } from '../support/workflows.ts'

const chat = '/api/agents/default/chat'

describe('an error that nothing catches', () => {
  async function start(dataDirectory = temporaryDirectory()) {
    const server = await startServerProcess({ dataDirectory, program: 'serve-and-throw.ts' })
    onTestFinished(() => server[Symbol.asyncDispose]())
    return server
  }

  it('ends the request or job that it belongs to, and nothing else', async () => {
    const server = await start()
    for (const kind of ['early', 'rejected']) {
      const { status, body } = await server.call('POST', chat, {
        headers: { 'x-throw': kind },
        body: { content: 'Hello' },
      })
      expect([kind, status]).toEqual([kind, 500])
      expect(JSON.stringify(body)).not.toContain('nobody')
    }
    const headers = { 'x-throw': 'late', accept: 'text/event-stream', 'content-type': 'application/json' }
    const answer = fetch(`${server.url}${chat}`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ content: 'Hello', stream: true }),
    })
    await expect(answer.then(response => response.text())).rejects.toThrow()

    const { body: workflow } = await server.call<Workflow>('POST', '/api/agents/default/workflows', {
      body: {
        name: 'Pause',
        status: 'active',
        nodes: nodesOf({ start: { type: 'trigger' }, rest: { type: 'wait', seconds: 1 } }),
        edges: edgesOf('start > rest'),
      },
    })
    const { body: started } = await server.call<Started>('POST', '/api/agents/default/workflows/execute', {
      body: { workflow_id: workflow.id },
    })
    await eventually(async () => {
      const { body } = await server.call<Execution>(
        'GET',
        `/api/agents/default/workflows/executions/${started.execution_id}`,
      )
      expect(body.status).toBe('complete')
    }, 60_000)
    for (const where of ['before an answer', 'in an answer', 'in a job', 'rejected by nobody'])
      expect(server.output()).toContain(where)
    expect(server.output()).not.toContain('"level":"fatal"')
    expect((await server.call('GET', '/readyz')).status).toBe(200)
    expect(await server.stop()).toBe(0)
  })

  it('and belongs to nothing ends the process as a signal does, with its origin in the log', async () => {
    const server = await start()
    const begun = performance.now()
    server.process.kill('SIGUSR2')
    expect(await server.ended).toBe(1)
    expect(performance.now() - begun).toBeLessThan(10_000)
    expect(server.output()).toContain('the process ends for an error that nothing caught')
    expect(server.output()).toContain('thrown in the name of nothing')
    expect(server.output()).toContain('"origin":"uncaughtException"')
  })
})
