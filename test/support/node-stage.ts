/** The service, a server of the outside that nodes may call, and workflows of one node. */
import { onTestFinished } from 'vitest'
import type { Execution } from '#features/workflows/workflows.schema.ts'
import { makeAgent } from './agents.ts'
import { type Answer, buildApp, type TestApp } from './build-app.ts'
import { type ModelServer, type RecordedRequest, type Reply, startModelServer } from './model-server.ts'
import { edgesOf, nodesOf, workflowCalls } from './workflows.ts'

interface NodeData {
  type: string
  [key: string]: unknown
}

export interface NodeStage extends AsyncDisposable {
  app: TestApp
  server: ModelServer
  /** Has the server answer so until the test has finished; else it answers `{"ok":true}`. */
  replyWith(reply: (request: RecordedRequest) => Reply | Promise<Reply>): void
  newAgent(): Promise<NodeAgent>
}

export type NodeAgent = ReturnType<typeof nodeAgent>

export async function setNodeStage(environment: Record<string, string> = {}): Promise<NodeStage> {
  const usual = (): Reply => ({ json: { ok: true } })
  let reply: (request: RecordedRequest) => Reply | Promise<Reply> = usual
  const server = await startModelServer(request => reply(request))
  const app = await buildApp({
    environment: { DEV_USER: 'dev@example.com', OUTBOUND_ALLOW: '127.0.0.1', ...environment },
  })
  return {
    app,
    server,
    replyWith(chosen) {
      reply = chosen
      onTestFinished(() => {
        reply = usual
      })
    },
    newAgent: async () => nodeAgent(app, `/api/agents/${await makeAgent(app)}`),
    async [Symbol.asyncDispose]() {
      await app.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

function nodeAgent(app: TestApp, path: string) {
  const calls = workflowCalls(app, path)
  const nodes = (data: NodeData) => ({ start: { type: 'trigger' }, node: data })
  return {
    ...calls,
    path,
    /** Saves a workflow with this node. */
    save: (data: NodeData, status = 'active'): Promise<Answer<Saved>> => {
      const body = { name: 'W', status, nodes: nodesOf(nodes(data)), edges: edgesOf('start > node') }
      return app.call('POST', `${path}/workflows`, { body })
    },
    /** Runs a workflow with this node to its end; what became of the node. */
    async runNode(data: NodeData, input: object = {}) {
      const execution = await calls.run(await calls.create(nodes(data), ['start > node']), input)
      return { ...resultOf(execution), execution }
    },
    /** Begins a workflow with this node; the id of the execution. */
    async begin(data: NodeData, input: object = {}) {
      const workflow_id = await calls.create(nodes(data), ['start > node'])
      return (await calls.execute({ workflow_id, input })).body.execution_id
    },
    terminate: (id: string) => app.call('POST', `${path}/workflows/executions/${id}/terminate`),
  }
}

/** The fields of a workflow, or those of an error. */
interface Saved {
  id: string
  nodes: { id: string; data: Record<string, unknown> }[]
  warnings: { node?: string; field: string; issue: string }[]
  error: { message: string; details: { problems: { node?: string; field: string; issue: string }[] } }
}

function resultOf({ node_results }: Execution) {
  const result = node_results.find(({ node_id }) => node_id === 'node')
  if (result === undefined) throw new Error('the node has not begun')
  return result
}
