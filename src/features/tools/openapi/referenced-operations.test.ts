import { expect, test } from 'vitest'
import { readOpenApi } from './read-openapi.ts'

const documentUrl = 'https://api.example.com/v1/openapi.json'
const at = (path: string) => new URL(path, documentUrl).href
const documentOf = (paths: object) => ({
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1' },
  servers: [{ url: 'https://api.example.com' }],
  paths,
})

test('an operation that is a reference is read from where it stands, or skipped with the reason', () => {
  const parameter = { name: 'petId', in: 'path', required: true, schema: { type: 'integer' } }
  const other = {
    get: { operationId: 'getPet', parameters: [parameter, { $ref: '#/verbose' }] },
    chain: { $ref: '#/get' },
    text: 'none',
    verbose: { name: 'verbose', in: 'query', schema: { type: 'boolean' } },
  }
  const document = documentOf({
    '/pets/{petId}': {
      get: { $ref: 'operations.json#/get' },
      put: { $ref: 'operations.json#/chain', summary: 'Change a pet' },
      post: { $ref: 'operations.json#/none' },
      patch: { $ref: 'operations.json#/text' },
      delete: { $ref: 'gone.yaml' },
      head: { $ref: 'https://other.example.com/a.json' },
      options: { $ref: '#/paths/~1pets~1{petId}/options' },
    },
  })
  const others = new Map([[at('operations.json'), { text: JSON.stringify(other) }]])
  const { operations, skipped, missing } = readOpenApi({ document, documentUrl, others })
  expect(operations.map(({ configuration }) => configuration)).toMatchObject(
    ['GET', 'PUT'].map(method => ({ method, pathParams: ['petId'], queryParams: ['verbose'] })),
  )
  expect(missing).toEqual([at('gone.yaml')])
  expect(skipped.map(({ operation, reason }) => [operation.split(' ')[0], reason])).toEqual([
    ['POST', expect.stringMatching(/^The operation is not known: the document has nothing at/)],
    ['PATCH', 'What stands at this method is not an object.'],
    ['DELETE', expect.stringContaining('which was not fetched')],
    ['HEAD', expect.stringContaining('at another origin')],
    ['OPTIONS', expect.stringContaining('leads to itself')],
  ])
  expect(readOpenApi({ document }).operations).toEqual([])
})
