/** Workflows as people make them, over HTTP. */
import { expect } from 'vitest'
import type { Execution, Workflow } from '#features/workflows/workflows.schema.ts'
import type { Answer, TestApp } from './build-app.ts'
import { eventually } from './eventually.ts'

type Callable = Pick<TestApp, 'call'>

/** Milliseconds: some executions are made to take long. */
const longestRun = 120_000

interface NodeData {
  type: string
  [key: string]: unknown
}

/** Nodes by their ids. */
export function nodesOf(nodes: Record<string, NodeData>) {
  return Object.entries(nodes).map(([id, { type, ...data }]) => ({ id, type, data }))
}

/** Edges as `a > b`, or `a/true > b` by an exit. */
export function edgesOf(...edges: string[]) {
  return edges.map((text, index) => {
    const [from = '', target = ''] = text.split(' > ')
    const [source = '', sourceHandle] = from.split('/')
    return { id: `e${index}`, source, target, ...(sourceHandle !== undefined && { sourceHandle }) }
  })
}

const base = '/api/agents/default'

/** The calls that most tests make. */
export function workflowCalls(app: Callable, path = base) {
  const create = async (nodes: Record<string, NodeData>, edges: string[], others: object = {}) => {
    const body = { name: 'W', status: 'active', nodes: nodesOf(nodes), edges: edgesOf(...edges), ...others }
    const answer = await app.call<Workflow>('POST', `${path}/workflows`, { body })
    expect(answer).toMatchObject({ status: 201 })
    return answer.body.id
  }
  const execute = (body: object, headers: Record<string, string> = {}) =>
    app.call<{ execution_id: string; status: string }>('POST', `${path}/workflows/execute`, { body, headers })
  const get = (id: string): Promise<Answer<Execution>> =>
    app.call('GET', `${path}/workflows/executions/${id}`)
  /** The execution once it has one of the statuses. */
  const reached = async (id: string, ...statuses: string[]) => {
    let execution: Execution | undefined
    await eventually(async () => {
      execution = (await get(id)).body
      expect(statuses).toContain(execution.status)
    }, longestRun)
    if (execution === undefined) throw new Error('there is no execution')
    return execution
  }
  return {
    create,
    execute,
    get,
    reached,
    /** Runs the workflow to its end. */
    async run(workflow_id: string, input: object = {}, others: object = {}) {
      const started = await execute({ workflow_id, input, ...others })
      expect(started).toMatchObject({ status: 200, body: { status: 'running' } })
      return await reached(started.body.execution_id, 'complete', 'errored', 'terminated')
    },
    /** The execution once a node of it waits. */
    async waiting(id: string, node_id: string) {
      await eventually(async () => {
        const { body } = await get(id)
        expect(body.node_results).toContainEqual(expect.objectContaining({ node_id, status: 'waiting' }))
        expect(body.waiting_until).not.toBeNull()
      })
    },
    /** The outputs of an execution, by node and path. */
    outputs: ({ node_results }: Execution) =>
      Object.fromEntries(
        node_results.map(({ node_id, path, output }) => [`${node_id}${path && ` ${path}`}`, output]),
      ),
  }
}
