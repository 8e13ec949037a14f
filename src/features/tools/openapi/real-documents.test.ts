import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { unstorable } from '#platform/http/requests/storable-text.ts'
import { matches } from '#platform/schema-check.ts'
import { validateHttpConfiguration } from '../calling/validate-configuration.ts'
import { readOpenApi } from './read-openapi.ts'

type ExpectedOperation = [
  method: string,
  path: string,
  id: string | null,
  inPath: string[],
  inQuery: string[],
]

interface Expected {
  title: string
  paths: number
  ops: number
  operations: ExpectedOperation[]
}

const folder = join(process.env.REAL_FIXTURES ?? '', 'openapi')
const isThere = process.env.REAL_FIXTURES !== undefined && existsSync(folder)
const expected: Record<string, Expected> = isThere ? JSON.parse(textOf('expected.json')) : {}
const files = Object.keys(expected)
const documentUrl = 'https://api.example.com/openapi.json'

/** The five operations of the collection that have no id of their own. */
const slugs: Record<string, string> = {
  'get /v1/logs/query': 'get_v1_logs_query',
  'get /v1/logs/stats': 'get_v1_logs_stats',
  'get /v1/logs/stream': 'get_v1_logs_stream',
  'post /v1/logs/export': 'post_v1_logs_export',
  'delete /v1/logs/': 'delete_v1_logs',
}

function textOf(name: string): string {
  return readFileSync(join(folder, name), 'utf8')
}

function read(name: string) {
  return readOpenApi({ text: textOf(name), documentUrl })
}

describe.skipIf(!isThere)('real documents (REAL_FIXTURES must name their folder)', () => {
  test.for(files.filter(name => !name.startsWith('REFUSE')))('%s', name => {
    const { operations, title, skipped } = read(name)
    const wanted = expected[name]
    expect(operations).toHaveLength(wanted?.ops ?? -1)
    expect(title).toBe(wanted?.title)
    const seen = operations.map(({ name, configuration }) => [
      configuration.method.toLowerCase(),
      configuration.pathTemplate,
      name,
      configuration.pathParams.toSorted(),
      configuration.queryParams.toSorted(),
    ])
    const told = wanted?.operations.map(([method, path, id, inPath, inQuery]) => [
      method,
      path,
      id ?? slugs[`${method} ${path}`],
      inPath.toSorted(),
      inQuery.toSorted(),
    ])
    expect(seen.toSorted()).toEqual(told?.toSorted())
    expect(skipped).toHaveLength(name === 'redocly-starter-extrefs.json' ? 6 : 0)
  })

  test.for(files.filter(name => name.startsWith('REFUSE')))('%s is refused', name => {
    expect(() => read(name)).toThrow('This is a Swagger 2.0 document; convert it to OpenAPI 3 first.')
  })

  test('every tool can be called, and its arguments can be checked', () => {
    const all = files.filter(name => !name.startsWith('REFUSE')).flatMap(name => read(name).operations)
    expect(all).toHaveLength(427)
    for (const { configuration, description, isEnabled } of all) {
      expect(description).not.toBe('')
      expect(isEnabled).toBe(true)
      expect(validateHttpConfiguration(configuration)).toBeUndefined()
      const text = JSON.stringify(configuration.parameters)
      expect(text).not.toMatch(/"(?:\$ref|nullable|example|readOnly|xml|discriminator|oneOf|format)":(?!\{)/)
      expect(text.length).toBeLessThan(32_001)
      expect(unstorable(JSON.stringify(configuration))).toBeUndefined()
      if (configuration.parameters) matches(configuration.parameters, {})
    }
  })

  test('no part of an argument needs to be left out of these documents', () => {
    const warnings = files
      .filter(name => !name.startsWith('REFUSE'))
      .flatMap(name => read(name).warnings.map(({ warning }) => `${name}: ${warning}`))
    expect(warnings).toEqual([
      'steel-browser.json: Its arguments are described 10 levels deep; what lies deeper, or is too long, is left out.',
    ])
  })

  test('a document gives the same as YAML', () => {
    const name = 'twilio-monitor-v2.json'
    const asYaml = readOpenApi({ text: stringify(JSON.parse(textOf(name))), documentUrl })
    expect(asYaml).toEqual(read(name))
  })

  test('credentials and servers', () => {
    const [first] = read('dify-en.json').operations
    expect(first?.configuration.baseUrl).toBe('https://api.dify.ai/v1')
    expect(first?.configuration.security).toEqual([[{ scheme: 'ApiKeyAuth', type: 'bearer' }]])
    expect(read('steel-browser.json').operations[0]?.configuration.baseUrl).toBe('http://0.0.0.0:3000')
    expect(read('petstore-3.0.json').operations[0]?.configuration.baseUrl).toBe(
      'https://api.example.com/api/v3',
    )
    expect(read('uspto.json').operations[0]?.configuration.baseUrl).toBe('https://developer.uspto.gov/ds-api')
    expect(read('twilio-messaging-v1.json').operations[0]?.configuration.baseUrl).toBe(
      'https://messaging.twilio.com',
    )
    expect(read('twilio-messaging-v1.json').securitySchemes).toMatchObject([
      { scheme: 'accountSid_authToken', type: 'basic' },
    ])
  })
})
