import { describe, expect, test } from 'vitest'
import { readOpenApi } from './read-openapi.ts'

describe('forms of several parts', () => {
  const bin = { type: 'string', format: 'binary' }
  const text = { type: 'string' }
  const none = { type: 'null' }
  test.for<[string, object, object | undefined, boolean]>([
    ['a binary text', bin, undefined, true],
    ['one or null', { anyOf: [bin, none] }, undefined, true],
    ['one of', { oneOf: [none, { $ref: '#/components/schemas/Bin' }] }, undefined, true],
    ['all of', { allOf: [bin, { description: 'A file.' }] }, undefined, true],
    ['a list', { type: 'array', items: bin }, undefined, true],
    ['a list or null', { anyOf: [{ type: 'array', items: { anyOf: [bin, none] } }, none] }, undefined, true],
    ['bytes', { ...text, contentMediaType: 'application/octet-stream' }, undefined, true],
    [
      'a list of pictures',
      { type: 'array', items: { ...text, contentMediaType: 'image/png' } },
      undefined,
      true,
    ],
    ['the file of Swagger 2', { type: 'file' }, undefined, true],
    ['pictures by the encoding', text, { contentType: 'image/png, image/jpeg' }, true],
    ['any picture by the encoding', text, { contentType: 'image/*' }, true],
    ['bytes by the encoding', text, { contentType: 'application/octet-stream' }, true],
    ['a text', text, undefined, false],
    ['JSON by the encoding', text, { contentType: 'application/json' }, false],
    ['texts by the encoding', text, { contentType: 'text/csv, application/xml' }, false],
    ['JSON in a text', { ...text, contentMediaType: 'application/json' }, undefined, false],
    [
      'a picture in a text',
      { ...text, contentMediaType: 'image/png', contentEncoding: 'base64' },
      undefined,
      false,
    ],
    ['a circle', { $ref: '#/components/schemas/Circle' }, undefined, false],
  ])('%s in a form is a file or not', ([, schema, encoding, isFile]) => {
    const schemas = { Bin: bin, Circle: { anyOf: [{ $ref: '#/components/schemas/Circle' }] } }
    const forms = [
      { properties: { f: schema } },
      { allOf: [{ properties: { note: text } }, { properties: { f: schema } }] },
    ]
    for (const form of forms) {
      const content = {
        'multipart/form-data': { schema: form, ...(encoding && { encoding: { f: encoding } }) },
      }
      const document = {
        openapi: '3.1.0',
        info: { title: 'T' },
        servers: [{ url: 'https://a' }],
        components: { schemas },
        paths: { '/x': { post: { requestBody: { content } } } },
      }
      const [tool] = readOpenApi({ document }).operations
      expect(tool?.configuration.requestBody?.fields?.find(({ name }) => name === 'f')?.isFile ?? false).toBe(
        isFile,
      )
    }
  })
})

describe('numbers in the place of texts keep their spelling', () => {
  const yaml = (version: string, schema = '{}') =>
    `openapi: ${version}\ninfo: {title: A, version: 1.10}\nservers: [{url: "https://a/v{n}", variables: {n: {default: 1.0}}}]\npaths: {/a: {get: {parameters: [{in: query, name: q, schema: ${schema}}]}}}`

  test.each(['3.0', '3.1', '3.0.3', '"3.0"', "'3.1.0'"])('of OpenAPI %s', version => {
    const { operations } = readOpenApi({ text: yaml(version) })
    expect(operations[0]?.configuration.baseUrl).toBe('https://a/v1.0')
  })

  test.each<[string, object]>([
    ['{type: string, default: 1.0}', { type: 'string', default: '1.0' }],
    ['{type: string, enum: [1.10, 2, true]}', { type: 'string', enum: ['1.10', '2', 'true'] }],
    ['{type: number, default: 1.0, minimum: 0.0}', { type: 'number', default: 1, minimum: 0 }],
  ])('in %s', (schema, read) => {
    const { operations } = readOpenApi({ text: yaml('3.0.0', schema) })
    expect(operations[0]?.configuration.parameters?.properties.q).toEqual(read)
  })
})
