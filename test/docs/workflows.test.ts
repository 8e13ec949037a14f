/** docs/workflows.md describes each type of node, by an example that the service accepts. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { nodeTypeNames } from '#features/workflows/workflows.schema.ts'
import { nodeTypes } from '../spec/node-types.ts'
import { testApp } from '../support/build-app.ts'

const page = readFileSync(new URL('../../docs/workflows.md', import.meta.url), 'utf8')
const [, section = ''] = /^## Node types$(.*?)(?=^## |$(?![\s\S]))/ms.exec(page) ?? []
const examples = [...section.matchAll(/^### (\S+)$(.*?)(?=^### |$(?![\s\S]))/gms)]
  .map(([, type = '', text = '']) => ({ type, example: /^```json\n(.*?)^```/ms.exec(text)?.[1] }))
  .filter(({ example }) => example !== undefined)

it('each type of node has a part of its own', () => {
  expect(examples.map(({ type }) => type).toSorted()).toEqual([...nodeTypeNames].toSorted())
  expect([...nodeTypeNames]).toEqual(nodeTypes.map(({ name }) => name))
})

it('each example of a node is accepted', async () => {
  const app = await testApp({ environment: { DEV_USER: 'dev@example.com' } })
  for (const { type, example = '' } of examples) {
    const node = { id: 'example', ...JSON.parse(example) }
    expect(node.type).toBe(type)
    const nodes = type === 'trigger' ? [node] : [{ id: 'start', type: 'trigger' }, node]
    const body = { name: type, status: 'active', nodes, edges: [] }
    const answer = await app.call('POST', '/api/agents/default/workflows', { body })
    expect(answer, type).toMatchObject({ status: 201, body: { warnings: [] } })
  }
})
