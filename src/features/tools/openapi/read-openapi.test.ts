import { describe, expect, test } from 'vitest'
import { AppError } from '#platform/errors.ts'
import { matches } from '#platform/schema-check.ts'
import { makeOpenApiDocument } from '#test/support/openapi-document.ts'
import { processorTime } from '#test/support/processor-time.ts'
import type { ImportedDocument, ImportedOperation } from './imported-document.ts'
import { readOpenApi } from './read-openapi.ts'

const documentUrl = 'https://shop.example.com/docs/openapi.json'

/** A document with the given paths, and whatever else is to stand in it. */
function documentOf(paths: unknown, rest: Record<string, unknown> = {}) {
  return {
    openapi: '3.0.3',
    info: { title: 'T' },
    servers: [{ url: 'https://a.example.com' }],
    paths,
    ...rest,
  }
}

function read(paths: unknown, rest?: Record<string, unknown>): ImportedDocument {
  return readOpenApi({ document: documentOf(paths, rest) })
}

/** The one tool of a document that has but one operation. */
function toolOf(operation: unknown, rest?: Record<string, unknown>, path = '/x'): ImportedOperation {
  const { operations, skipped } = read({ [path]: { post: operation } }, rest)
  if (operations[0] === undefined) throw new Error(JSON.stringify(skipped))
  return operations[0]
}

function bodySchemaOf(schema: unknown, rest?: Record<string, unknown>): Record<string, unknown> {
  const { configuration } = toolOf({ requestBody: { content: { 'application/json': { schema } } } }, rest)
  const parameters = configuration.parameters
  if (parameters === undefined) throw new Error('There are no parameters.')
  matches(parameters, {})
  return parameters.properties.body as Record<string, unknown>
}

function refusalOf(text: string): AppError {
  try {
    readOpenApi({ text })
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('The document was taken.')
}

describe('what is no OpenAPI 3 document', () => {
  test.for([
    ['', /is empty/],
    ['   \n', /is empty/],
    ['{"openapi": "3.0.0"', /is not valid JSON/],
    ['openapi: [3.0', /is not valid YAML/],
    ['openapi: 3.0.0\n---\nopenapi: 3.0.0', /is not valid YAML/],
    ['<!doctype html><p>', /is a web page/],
    ['[]', /is an object with the members/],
    ['just words', /is an object with the members/],
    ['null', /is an object with the members/],
    ['{}', /does not say its version/],
    ['{"openapi": true, "paths": {}}', /does not say its version/],
    ['{"swagger": "2.0", "paths": {}}', /This is a Swagger 2\.0 document; convert it to OpenAPI 3 first/],
    ['swagger: 2.0\npaths: {}', /This is a Swagger 2 document/],
    [
      '{"openapi": "2.0.0", "paths": {}}',
      /is of OpenAPI version "2\.0\.0"; give one of version 3\.0 or 3\.1/,
    ],
    ['{"openapi": "4.0.0", "paths": {}}', /is of OpenAPI version "4\.0\.0"/],
    ['{"openapi": 3, "paths": {}}', /is of OpenAPI version "3"; give one of version 3\.0 or 3\.1/],
    ['openapi: 3\npaths: {}', /is of OpenAPI version "3"/],
    ['{"openapi": "3.0.0", "paths": []}', /paths of the document must be an object/],
    ['{"openapi": "3.0.0", "paths": "/x"}', /paths of the document must be an object/],
    ['['.repeat(200_000), /is not valid JSON/],
    [`a: ${'['.repeat(200_000)}`, /is not valid YAML|nested too deeply/],
    [
      `a: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefghi'].map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[index]}`)}]`).join('\n')}\nopenapi: 3.0.0`,
      /is not valid YAML \(Excessive alias count/,
    ],
    ['openapi: !!js/function "x"\npaths: {}', /is of OpenAPI version "x"/],
  ] as const)('%s', ([text, message]) => {
    const refusal = refusalOf(text)
    expect(refusal.code).toBe('VALIDATION_ERROR')
    expect(refusal.message).toMatch(message)
    expect(refusal.details?.field).toBe('url')
  })

  test('an inline document is refused under its own field', () => {
    expect(() => readOpenApi({ document: 'text' })).toThrow(/^spec: An OpenAPI document is an object/)
  })
})

describe('a document without operations', () => {
  test.for([
    ['{"openapi": "3.1.0", "webhooks": {"a": {"post": {}}}}'],
    ['{"openapi": "3.1.0", "components": {}}'],
    ['{"openapi": "3.0.0", "paths": {}}'],
    ['openapi: 3.0.0\npaths:\n'],
    ['\uFEFFopenapi: 3.1'],
  ])('%s gives none', ([text = '']) => {
    expect(readOpenApi({ text })).toEqual({
      title: '',
      operations: [],
      skipped: [],
      warnings: [],
      securitySchemes: [],
      missing: [],
    })
  })
})

describe('operations', () => {
  test('each method of each path is a tool; what is none is told', () => {
    const item = {
      get: {},
      put: {},
      post: {},
      delete: {},
      options: {},
      head: {},
      patch: {},
      trace: {},
      'x-y': {},
      summary: 'S',
    }
    const { operations, skipped, warnings } = read({
      '/a': item,
      'x-a': {},
      b: item,
      '/c': { GET: {}, post: 7 },
      '/d': 'no',
    })
    expect(operations.map(one => one.configuration.method)).toEqual([
      'GET',
      'PUT',
      'POST',
      'DELETE',
      'OPTIONS',
      'HEAD',
      'PATCH',
      'TRACE',
    ])
    expect(operations.find(one => !one.isEnabled)?.name).toBe('trace_a')
    expect(warnings).toEqual([
      { operation: 'TRACE /a', warning: 'The tool is disabled: requests with TRACE are not sent.' },
    ])
    expect(skipped.map(({ operation }) => operation)).toEqual(['b', 'GET /c', 'POST /c', '/d'])
  })

  test.for([
    ['/v1/logs/{logId}.json', 'get_v1_logs_logId_json'],
    ['/v1/logs/', 'get_v1_logs'],
    ['/', 'get_root'],
    ['/Pets-and-More/{a}{b}', 'get_Pets_and_More_a_b'],
    ['/日本', 'get_root'],
  ])('%s without an id is %s', ([path = '', name]) => {
    expect(read({ [path]: { get: {} } }).operations[0]?.name).toBe(name)
  })

  test('equal names get a number and a warning', () => {
    const { operations, warnings } = read({
      '/a': { get: { operationId: 'list' } },
      '/b': { get: { operationId: 'list' } },
      '/c': { get: { operationId: 'list_2' } },
      '/d': { get: { operationId: 'list' } },
      '/e/': { get: {} },
      '/e': { get: {} },
    })
    expect(operations.map(({ name }) => name)).toEqual([
      'list',
      'list_2',
      'list_2_2',
      'list_3',
      'get_e',
      'get_e_2',
    ])
    expect(warnings).toHaveLength(4)
    expect(warnings[0]).toEqual({
      operation: 'GET /b',
      warning: 'Another operation has the name "list"; this one is called "list_2".',
    })
  })

  test.for([[7], ['__proto__'], [''], ['\u0000'], [null], [{}]])(
    'the operationId %j is no name',
    ([operationId]) => {
      const { operations, warnings } = read({ '/a': { get: { operationId } } })
      expect(operations[0]?.name).toBe('get_a')
      expect(warnings[0]?.warning).toMatch(/operationId can't be a name/)
    },
  )

  test.for([
    [{ summary: 'S', description: 'D' }, 'S', 'D'],
    [{ description: 'D' }, 'D', undefined],
    [{ summary: 'S', description: 'S' }, 'S', undefined],
    [{ summary: ' ' }, 'POST /x', undefined],
    [{ summary: 7 }, 'POST /x', undefined],
  ] as const)('%j is described as %s', ([operation, description, details]) => {
    const tool = toolOf(operation)
    expect(tool.description).toBe(description)
    expect(tool.configuration.parameters?.description).toBe(details)
  })

  test('more than 2,000 are told, not taken', () => {
    const paths = Object.fromEntries(Array.from({ length: 2100 }, (_, index) => [`/p${index}`, { get: {} }]))
    const { operations, skipped } = read(paths)
    expect(operations).toHaveLength(2000)
    expect(skipped).toMatchObject([{ operation: '100 more operations' }])
  })

  test.for([
    ['/a/../b', /holds "\." or "\.\." as a part/],
    ['/a/%2e%2E', /holds "\." or "\.\." as a part/],
    ['/a\u0000', /characters that can't be sent/],
    ['/\ud800', /characters that can't be sent/],
    [`/${'a'.repeat(3000)}`, /longer than/],
  ] as const)('the path %j is skipped', ([path, reason]) => {
    const { operations, skipped } = read({ [path]: { get: {} } })
    expect(operations).toEqual([])
    expect(skipped[0]?.reason).toMatch(reason)
  })
})

describe('references', () => {
  test('lead to path items, parameters, bodies and schemas, through pointers with escapes', () => {
    const { operations, warnings } = read(
      { '/a/{id}': { $ref: '#/components/pathItems/a~1b%20c' } },
      {
        components: {
          pathItems: {
            'a/b c': { $ref: '#/components/pathItems/final' },
            final: {
              put: {
                requestBody: { $ref: '#/components/requestBodies/~0' },
                parameters: [{ $ref: '#/components/parameters/p%25' }],
              },
            },
          },
          requestBodies: {
            '~': { content: { 'application/json': { schema: { $ref: '#/components/schemas/S' } } } },
          },
          parameters: { 'p%': { name: 'id', in: 'path', required: true, schema: { type: 'integer' } } },
          schemas: { S: { type: 'string', maxLength: 3 } },
        },
      },
    )
    expect(warnings).toEqual([])
    expect(operations[0]?.configuration.parameters?.properties).toEqual({
      id: { type: 'integer' },
      body: { type: 'string', maxLength: 3 },
    })
  })

  test.for([
    ['#/components/pathItems/none', /has nothing at/],
    ['other.yaml#/a', /outside of the document/],
    ['https://other.example.com/a', /outside of the document/],
    ['#/paths/~1a', /leads to itself/],
    ['#/%', /has nothing at/],
  ] as const)('a path item at %s is skipped', ([Ref, reason]) => {
    expect(read({ '/a': { $ref: Ref } }).skipped).toEqual([
      { operation: '/a', reason: expect.stringMatching(reason) },
    ])
  })

  test("the document's own address leads into it", () => {
    const document = documentOf(
      { '/a': { $ref: 'openapi.json#/components/x' } },
      { components: { x: { get: {} } } },
    )
    expect(readOpenApi({ document, documentUrl }).operations).toHaveLength(1)
  })

  test('an operation whose arguments stand in a document that is not there is skipped', () => {
    const json = (schema: unknown) => ({ content: { 'application/json': { schema } } })
    const optional = { name: 'a', in: 'query', schema: { $ref: '/deep.json#/a' } }
    const { operations, skipped } = read({
      '/a': { post: { parameters: [{ $ref: 'p.json' }] } },
      '/b': { post: { requestBody: { $ref: 'b.json' } } },
      '/c': { post: { requestBody: json({ $ref: 's.json' }) } },
      '/d': { parameters: [optional], post: {} },
      '/e': { parameters: [{ $ref: '#/none' }], get: {} },
    })
    expect(operations).toEqual([])
    expect(skipped.map(({ operation, reason }) => `${operation}: ${reason}`)).toEqual([
      'POST /a: A parameter can\'t be read: it refers to "p.json" outside of the document.',
      'POST /b: Its request body can\'t be read: it refers to "b.json" outside of the document.',
      'POST /c: A part of its arguments can\'t be read: it refers to "s.json" outside of the document.',
      'POST /d: A part of its arguments can\'t be read: it refers to "/deep.json#/a" outside of the document.',
      'GET /e: A parameter can\'t be read: the document has nothing at "#/none".',
    ])
  })

  test('a schema that the document lacks leaves its argument undescribed, with a warning', () => {
    const schema = { $ref: '#/components/schemas/None' }
    const { operations, warnings } = read({
      '/a': { post: { requestBody: { content: { 'application/json': { schema } } } } },
    })
    expect(operations[0]?.configuration.parameters?.properties).toEqual({ body: {} })
    expect(warnings.map(({ warning }) => warning)).toEqual([
      'A part of its arguments is not described: the document has nothing at "#/components/schemas/None".',
    ])
  })

  describe('into other documents', () => {
    const at = (path: string) => new URL(path, documentUrl).href
    const paths = { '/pets/{petId}': { $ref: 'paths/pet.yaml' } }
    const pet = [
      'parameters: [{ $ref: "../shared.json#/parameters/PetId" }]',
      'get: { operationId: getPet, parameters: [{ $ref: "openapi.json#/components/parameters/Verbose" }] }',
      'put: { operationId: putPet, requestBody: { $ref: "#/body" } }',
      'body: { content: { application/json: { schema: { $ref: "../shared.json#/schemas/Pet" } } } }',
    ].join('\n')
    const shared = JSON.stringify({
      parameters: { PetId: { name: 'petId', in: 'path', required: true, schema: { type: 'integer' } } },
      schemas: {
        Pet: {
          type: 'object',
          properties: { name: { $ref: '#/schemas/Name' }, mother: { $ref: '#/schemas/Pet' } },
        },
        Name: { type: 'string', maxLength: 9 },
      },
    })
    const readWith = (others: Record<string, { text: string } | { problem: string }>) => {
      const document = documentOf(paths)
      const entries = Object.entries(others).map(([path, other]) => [at(path), other] as const)
      return readOpenApi({ document, documentUrl, others: new Map(entries) })
    }

    test('each missing one is named, as far as it is known', () => {
      const first = readWith({})
      expect(first.missing).toEqual([at('paths/pet.yaml')])
      expect(first.operations).toEqual([])
      expect(first.skipped).toMatchObject([{ reason: expect.stringContaining('which was not fetched') }])
      expect(readWith({ 'paths/pet.yaml': { text: pet } }).missing).toEqual([
        at('shared.json'),
        at('paths/openapi.json'),
      ])
    })

    test('references are relative to the document that they stand in', () => {
      const whole = readWith({
        'paths/pet.yaml': { text: pet.replace('"openapi.json#', '"../openapi.json#') },
        'shared.json': { text: shared },
      })
      // The document itself has no such parameter.
      expect(whole.skipped).toEqual([
        {
          operation: 'GET /pets/{petId}',
          reason: expect.stringMatching(/the document has nothing at ".*Verbose"/),
        },
      ])
      expect(whole.missing).toEqual([])
      const [putPet] = whole.operations
      expect(putPet?.configuration.pathParams).toEqual(['petId'])
      expect(putPet?.configuration.parameters?.properties).toEqual({
        petId: { type: 'integer' },
        body: {
          type: 'object',
          properties: {
            name: { type: 'string', maxLength: 9 },
            mother: { type: 'object', description: 'As the object around it, and so on.' },
          },
        },
      })
    })

    test('why one is not there is told', () => {
      const reasons = ['which answered with status 404', 'beyond the limit of 10 MB']
      for (const problem of reasons)
        expect(readWith({ 'paths/pet.yaml': { problem } }).skipped).toEqual([
          {
            operation: '/pets/{petId}',
            reason: `The operations of this path are not known: it refers to "paths/pet.yaml" outside of the document, ${problem}.`,
          },
        ])
      expect(readWith({ 'paths/pet.yaml': { text: '<html>' } }).skipped).toMatchObject([
        { reason: expect.stringContaining("which can't be read: This is a web page") },
      ])
    })

    test('those of another origin are not wanted', () => {
      const document = documentOf({ '/a': { $ref: 'https://other.example.com/a.json' } })
      const { missing, skipped } = readOpenApi({ document, documentUrl })
      expect(missing).toEqual([])
      expect(skipped).toMatchObject([{ reason: expect.stringContaining('at another origin') }])
    })

    test('circles through them end', () => {
      const others = { 'paths/pet.yaml': { text: '{"$ref": "pet.yaml"}' } }
      expect(readWith(others).skipped).toMatchObject([{ reason: expect.stringContaining('leads to itself') }])
    })
  })

  test('beside a reference only words count in 3.0, and all of it in 3.1', () => {
    const components = { components: { schemas: { S: { type: 'string', description: 'Old' } } } }
    const schema = { $ref: '#/components/schemas/S', description: 'New', maxLength: 5 }
    expect(bodySchemaOf(schema, components)).toEqual({ type: 'string', description: 'New' })
    expect(bodySchemaOf(schema, { ...components, openapi: '3.1.0' })).toEqual({
      type: 'string',
      description: 'New',
      maxLength: 5,
    })
  })

  test('a schema inside itself ends with a note', () => {
    const schemas = { Node: { properties: { next: { $ref: '#/components/schemas/Node' } } } }
    expect(bodySchemaOf({ $ref: '#/components/schemas/Node' }, { components: { schemas } })).toEqual({
      type: 'object',
      properties: { next: { type: 'object', description: 'As the object around it, and so on.' } },
    })
  })
})

describe('parameters', () => {
  test("those of the path count, the operation's own win, and each place has its own names", () => {
    const { operations } = readOpenApi({
      document: makeOpenApiDocument('https://shop.example.com'),
      documentUrl,
    })
    const tool = operations.find(({ name }) => name === 'getPet')
    expect(tool?.configuration).toMatchObject({
      baseUrl: 'https://shop.example.com/v1',
      pathTemplate: '/pets/{petId}',
      method: 'GET',
      pathParams: ['petId'],
      queryParams: ['verbose', 'petId'],
      security: [[{ scheme: 'token', type: 'bearer' }]],
    })
    expect(tool?.configuration.parameters).toEqual({
      type: 'object',
      description: 'Gives one pet with everything that is known of it.',
      properties: {
        petId: { type: 'integer' },
        verbose: { type: 'boolean' },
        query_petId: { type: 'string', description: 'Sent as "petId".' },
        'X-Trace': { type: 'string' },
        theme: { type: 'string' },
      },
      required: ['petId'],
      additionalProperties: false,
    })
  })

  test('names that models can not write are rewritten, and nothing is lost', () => {
    const names = ['filter[a]', 'filter(a)', '$', '__proto__', 'body', '日本']
    const parameters = names.map(name => ({ name, in: 'query', schema: {} }))
    const requestBody = { content: { 'text/csv': {} } }
    const { configuration } = toolOf({ parameters, requestBody })
    expect(configuration.placement?.map(one => [one.argument, one.name])).toEqual([
      ['filter_a_', 'filter[a]'],
      ['query_filter_a_', 'filter(a)'],
      ['query_parameter', '$'],
      ['query_parameter_2', '__proto__'],
      ['query_body', 'body'],
      ['query_parameter_3', '日本'],
    ])
    expect(configuration.parameters?.properties.body).toEqual({
      type: 'string',
      description: 'The text of the body, as text/csv.',
    })
    expect(configuration.queryParams).toEqual(names)
  })

  test('the template decides which path parameters there are', () => {
    const parameters = [{ name: 'gone', in: 'path', schema: {} }]
    const { operations, warnings } = read({ '/a/{one}/{two}': { get: { parameters } } })
    expect(operations[0]?.configuration.pathParams).toEqual(['one', 'two'])
    expect(operations[0]?.configuration.parameters?.required).toEqual(['one', 'two'])
    expect(warnings[0]?.warning).toBe('The path parameter "gone" was left out: the path has no place for it.')
  })

  test('odd ones are left out with a word', () => {
    const parameters = [
      7,
      { name: 'a' },
      { name: 'a', in: 'formData' },
      { name: 'a\u0000', in: 'query' },
      { name: 'Host', in: 'header' },
      { name: 'b c', in: 'header' },
      { name: 'Authorization', in: 'header' },
      { name: 'ok', in: 'query', required: 'yes', style: 'matrix' },
    ]
    const { operations, warnings } = read({
      '/a': { get: { parameters } },
      '/b': { get: { parameters: {} } },
    })
    expect(operations[0]?.configuration.placement).toEqual([
      { argument: 'ok', name: 'ok', in: 'query', style: 'form', explode: true, required: false },
    ])
    expect(warnings).toHaveLength(6)
  })

  test.for([
    [{ in: 'body', name: 'pet', required: true }, /lacks a name, or the place/],
    [{ in: 'query', name: 'a\u0000', required: true }, /the name of one in query is too long/],
    [{ in: 'header', name: 'b c', required: true }, /can't set the header "b c"/],
  ] as const)('an operation that requires one that can not be sent is skipped: %j', ([parameter, reason]) => {
    const { operations, skipped } = read({ '/a': { get: { parameters: [parameter] } } })
    expect(operations).toEqual([])
    expect(skipped).toEqual([{ operation: 'GET /a', reason: expect.stringMatching(reason) }])
  })

  test('headers that every request has are no reason to skip one that requires them', () => {
    const parameters = [{ in: 'header', name: 'Host', required: true }]
    expect(read({ '/a': { get: { parameters } } }).operations).toHaveLength(1)
  })

  test('what a credential fills in need not be given', () => {
    const components = { securitySchemes: { k: { type: 'apiKey', in: 'header', name: 'X-Key' } } }
    const parameters = [{ name: 'x-key', in: 'header', required: true, schema: { type: 'string' } }]
    const { configuration } = toolOf({ parameters, security: [{ k: [] }] }, { components })
    expect(configuration.parameters?.required).toEqual([])
  })
})

describe('request bodies', () => {
  test.for([
    [['text/plain', 'application/xml', 'application/json'], 'application/json'],
    [['application/vnd.api+json', 'application/json; charset=utf-8'], 'application/json; charset=utf-8'],
    [['multipart/form-data', 'application/x-www-form-urlencoded'], 'application/x-www-form-urlencoded'],
    [['application/octet-stream', 'text/plain'], 'text/plain'],
    [['*/*'], '*/*'],
    [['bad\r\ntype/x', 'a', 'image/png'], 'image/png'],
  ] as const)('of %j the best is %s', ([types, chosen]) => {
    const content = Object.fromEntries(types.map(type => [type, {}]))
    expect(toolOf({ requestBody: { content, required: true } }).configuration.requestBody).toEqual({
      argument: 'body',
      mediaType: chosen,
      required: true,
    })
  })

  test('one without a usable type skips the operation if it is required', () => {
    const { operations, skipped } = read({
      '/a': { post: { requestBody: { required: true, content: {} } } },
      '/b': {
        post: { requestBody: { content: {} } },
        get: { requestBody: { content: { 'text/plain': {} } } },
      },
    })
    expect(skipped.map(({ operation }) => operation)).toEqual(['POST /a'])
    expect(operations.every(one => one.configuration.requestBody === undefined)).toBe(true)
  })
})

describe('schemas', () => {
  test.for<[string, unknown, unknown]>([
    [
      'nullable',
      { type: 'string', nullable: true, enum: ['a'] },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    [
      'exclusive limits of 3.0',
      { type: 'number', minimum: 1, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: false },
      { type: 'number', exclusiveMinimum: 1, maximum: 3 },
    ],
    ['exclusive limits of 3.1', { exclusiveMinimum: 1 }, { exclusiveMinimum: 1 }],
    [
      'what is no schema',
      {
        type: 'object',
        example: 1,
        examples: [2],
        xml: {},
        discriminator: {},
        'x-a': 1,
        externalDocs: {},
        deprecated: true,
      },
      { type: 'object' },
    ],
    [
      'wrong types',
      {
        type: 'file',
        minLength: -1,
        maximum: '3',
        required: 'yes',
        properties: [],
        enum: [],
        pattern: 7,
        multipleOf: 0,
      },
      {},
    ],
    ['true', true, {}],
    ['false', false, {}],
    [
      'tuples',
      { type: 'array', items: [{ type: 'string' }, { type: 'integer' }] },
      { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
    ],
    [
      'prefixItems',
      { prefixItems: [{ type: 'string' }], items: false },
      { type: 'array', items: { anyOf: [{ type: 'string' }] } },
    ],
    [
      'oneOf',
      { oneOf: [{ type: 'string' }, false, { type: 'null' }] },
      { anyOf: [{ type: 'string' }, { type: 'null' }] },
    ],
    [
      'readOnly',
      { type: 'object', required: ['id', 'a'], properties: { id: { readOnly: true }, a: {} } },
      { type: 'object', properties: { a: {} }, required: ['a'] },
    ],
    ['one part', { description: 'D', allOf: [{ type: 'string' }] }, { type: 'string', description: 'D' }],
    [
      'objects',
      {
        allOf: [
          { type: 'object', required: ['a'], properties: { a: {} }, additionalProperties: false },
          { properties: { b: {} } },
        ],
      },
      { type: 'object', properties: { a: {}, b: {} }, required: ['a'] },
    ],
    [
      'other parts',
      { allOf: [{ minLength: 2 }, { pattern: '^a' }] },
      { allOf: [{ minLength: 2 }, { pattern: '^a' }] },
    ],
    [
      'parts that are closed',
      {
        allOf: [
          { type: 'object', properties: { a: {} }, additionalProperties: false, minProperties: 1 },
          { maxProperties: 3 },
        ],
      },
      { allOf: [{ type: 'object', properties: { a: {} }, minProperties: 1 }, { maxProperties: 3 }] },
    ],
    [
      'a dangerous pattern',
      { type: 'string', pattern: '^(a+)+$' },
      { type: 'string', description: 'Pattern: ^(a+)+$' },
    ],
    ['a broken pattern', { pattern: '[' }, { description: 'Pattern: [' }],
    [
      'formats',
      { type: 'string', format: 'date-time', description: 'When.' },
      { type: 'string', description: 'When. Format: date-time.' },
    ],
    ['widths', { type: 'integer', format: 'int64' }, { type: 'integer' }],
    [
      'nullable parts',
      { nullable: true, allOf: [{ minLength: 2 }, { maxLength: 3 }] },
      { anyOf: [{ allOf: [{ minLength: 2 }, { maxLength: 3 }] }, { type: 'null' }] },
    ],
    [
      'prototypes',
      JSON.parse('{"properties": {"__proto__": {}, "constructor": {"type": "string"}}}'),
      { type: 'object', properties: { constructor: { type: 'string' } } },
    ],
    [
      'unstorable text',
      { properties: { 'a\u0000': {} }, enum: ['\ud800'], description: 'a\u0000b' },
      { type: 'object', description: 'a b' },
    ],
  ])('%s', ([, schema, converted]) => {
    expect(bodySchemaOf(schema)).toEqual(converted)
  })

  test('a large schema is cut until it fits, and this is told', () => {
    const wide = (depth: number): unknown =>
      depth === 0
        ? { type: 'string', description: 'Long words. '.repeat(20) }
        : {
            type: 'object',
            properties: Object.fromEntries([...'abcdef'].map(name => [name, wide(depth - 1)])),
          }
    const { operations, warnings } = read({
      '/a': { post: { requestBody: { content: { 'application/json': { schema: wide(6) } } } } },
    })
    const text = JSON.stringify(operations[0]?.configuration.parameters)
    expect(text.length).toBeLessThan(32_000)
    expect(text).toContain('Its details are left out here.')
    expect(warnings[0]?.warning).toMatch(/described \d levels deep/)
  })

  test('a schema that doubles with each step costs little', async () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [
        `S${index}`,
        {
          properties: {
            a: { $ref: `#/components/schemas/S${index + 1}` },
            b: { $ref: `#/components/schemas/S${index + 1}` },
          },
        },
      ]),
    )
    const read = () => bodySchemaOf({ $ref: '#/components/schemas/S0' }, { components: { schemas } })
    expect(await processorTime(read)).toBeLessThan(1_000)
  })
})

describe('servers', () => {
  const [one, two, three] = [
    'https://one.example.com/',
    'https://two.example.com/v2/',
    'https://three.example.com',
  ]
  test.for<[string, unknown, unknown, unknown, string | undefined, string]>([
    ['the operation', [{ url: one }], [{ url: two }], [{ url: three }], undefined, 'https://one.example.com'],
    ['the path', [], [{ url: two }, { url: one }], [{ url: three }], undefined, 'https://two.example.com/v2'],
    ['the document', undefined, undefined, [{ url: three }], undefined, 'https://three.example.com'],
    [
      'a relative one',
      undefined,
      undefined,
      [{ url: '../api/' }],
      documentUrl,
      'https://shop.example.com/api',
    ],
    ['none', undefined, undefined, [], documentUrl, 'https://shop.example.com'],
    [
      'variables',
      undefined,
      undefined,
      [
        {
          url: 'https://{h}:{port}',
          variables: { h: { default: 'h.example.com' }, port: { default: 8443 } },
        },
      ],
      undefined,
      'https://h.example.com:8443',
    ],
  ])('%s', ([, own, ofPath, ofDocument, url, baseUrl]) => {
    const document = documentOf({ '/a': { servers: ofPath, get: { servers: own } } }, { servers: ofDocument })
    const { operations, warnings } = readOpenApi({
      document,
      ...(url === undefined ? {} : { documentUrl: url }),
    })
    expect(operations[0]).toMatchObject({ isEnabled: true, configuration: { baseUrl } })
    expect(warnings).toEqual([])
  })

  test.for<[string, unknown, RegExp]>([
    ['no server', undefined, /names no server, and has no address of its own/],
    ['a relative address', [{ url: '/api' }], /"\/api" is relative/],
    ['a variable without default', [{ url: 'https://{host}/' }], /has no value for \{host\}/],
    ['another scheme', [{ url: 'ftp://a.example.com' }], /only http and https/],
    ['a user', [{ url: 'https://a:b@c.example.com' }], /user name or password/],
    ['no address', [{}], /has no address/],
    ['no object', ['https://a.example.com'], /has no address/],
  ])('%s disables the tool', ([, servers, warning]) => {
    const { operations, warnings } = read({ '/a': { get: {} } }, { servers })
    expect(operations[0]?.isEnabled).toBe(false)
    expect(warnings[0]?.warning).toMatch(warning)
  })
})

describe('security', () => {
  const securitySchemes = {
    key: { type: 'apiKey', in: 'header', name: 'X-Key' },
    user: { $ref: '#/components/securitySchemes/basic' },
    basic: { type: 'http', scheme: 'Basic' },
    oidc: { type: 'openIdConnect', openIdConnectUrl: 'https://id.example.com' },
    tls: { type: 'mutualTLS' },
    digest: { type: 'http', scheme: 'digest' },
    host: { type: 'apiKey', in: 'header', name: 'Host' },
  }
  const key = { scheme: 'key', type: 'apiKey', in: 'header', name: 'X-Key' }
  test.for<[string, unknown, unknown]>([
    ['of the document', undefined, [[{ scheme: 'oidc', type: 'bearer' }]]],
    ['none', [], undefined],
    ['optional', [{}, { key: [] }], [[], [key]]],
    ['together', [{ key: [], user: [] }], [[key, { scheme: 'user', type: 'basic' }]]],
    ['partly known', [{ tls: [] }, { key: [] }, { host: [] }], [[key]]],
    ['unknown', [{ tls: [] }, { digest: [] }, { nothing: [] }, { constructor: [] }], undefined],
    ['no list', 'yes', [[{ scheme: 'oidc', type: 'bearer' }]]],
  ])('%s', ([name, security, expected]) => {
    const rest = { components: { securitySchemes }, security: [{ oidc: [] }] }
    const { operations, warnings } = read({ '/a': { get: { security } } }, rest)
    expect(operations[0]?.configuration.security).toEqual(expected)
    expect(warnings).toHaveLength(name === 'unknown' ? 1 : 0)
  })
})
