import { describe, expect, it } from 'vitest'
import { errorText, readResult } from './tool-result.ts'

const text = { type: 'text', text: 'payload' }
const read = (result: unknown) => {
  const { isError, odd, ...rest } = readResult(result)
  return { ...(isError ? { isError } : {}), ...rest, odd }
}

describe('a result is read member by member', () => {
  it.each<[string, unknown, object, string[]]>([
    [
      'null for absent members',
      { content: [text], structuredContent: null, isError: null, _meta: null },
      { text: 'payload' },
      [],
    ],
    [
      'annotations that are null',
      { content: [{ ...text, annotations: null, _meta: null }] },
      { text: 'payload' },
      [],
    ],
    [
      'a list as data',
      { content: [text], structuredContent: [1] },
      { text: 'payload', structuredContent: [1] },
      [],
    ],
    ['a number as data', { content: null, structuredContent: 7 }, { structuredContent: 7 }, []],
    ['one block in the place of a list', { content: text }, { text: 'payload' }, []],
    ['texts in the place of blocks', { content: ['payload', text] }, { text: 'payload\n\npayload' }, []],
    [
      'a block of an unknown type',
      { content: [text, { type: 'json', json: {} }] },
      { text: 'payload' },
      ['content[1] is no block of the type "json" that can be read'],
    ],
    [
      'a block without a type',
      { content: [{ text: 'x' }, text] },
      { text: 'payload' },
      ['content[0] is no block that can be read'],
    ],
    [
      'blocks that are none',
      { content: [null, 7, text] },
      { text: 'payload' },
      ['content[0] is no block that can be read', 'content[1] is no block that can be read'],
    ],
    [
      'a text that is none',
      { content: [{ type: 'text', text: null }, text] },
      { text: 'payload' },
      ['content[0] is no block of the type "text" that can be read'],
    ],
    [
      'an image without data',
      { content: [{ type: 'image' }, text] },
      { text: 'payload' },
      ['content[0] is no block of the type "image" that can be read'],
    ],
    [
      'a resource without a place',
      { content: [{ type: 'resource', resource: { text: 'payload' } }] },
      { text: 'payload', attachments: [{ type: 'resource' }] },
      [],
    ],
    [
      'an odd isError',
      { content: [text], isError: 0 },
      { text: 'payload' },
      ['isError is of the type number'],
    ],
    ['the result of the first version', { toolResult: { a: 1 } }, { structuredContent: { a: 1 } }, []],
    ['null', null, {}, ['the result is null']],
    ['a text', 'payload', { structuredContent: 'payload' }, ['the result is of the type string']],
    ['a list', [text], { structuredContent: [text] }, ['the result is a list']],
  ])('%s', (_, result, expected, odd) => expect(read(result)).toEqual({ ...expected, odd }))

  it.each<[unknown, string]>([
    [{ content: [], structuredContent: { code: 'E42' } }, '{"code":"E42"}'],
    [
      { content: [{ type: 'text', text: 'Failed' }], structuredContent: { code: 'E42' } },
      'Failed {"code":"E42"}',
    ],
    [
      { content: [{ type: 'text', text: '{"code": "E42"}' }], structuredContent: { code: 'E42' } },
      '{"code":"E42"}',
    ],
    [{ content: null }, ''],
  ])('and an error says as much: %j', (result, said) => {
    expect(errorText(readResult({ ...(result as object), isError: true }))).toBe(said)
  })
})
