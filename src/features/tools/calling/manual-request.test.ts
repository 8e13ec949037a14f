import { describe, expect, test } from 'vitest'
import { buildHttpRequest, placeholdersOf } from './build-request.ts'
import type { ManualConfiguration } from './http-configuration.ts'

const base: ManualConfiguration = { url: 'https://api.example.com/v1/items', method: 'GET' }

function urlOf(url: string, values: Record<string, unknown>, method: ManualConfiguration['method'] = 'GET') {
  return buildHttpRequest({ ...base, url, method }, values).url
}

describe('the address', () => {
  test.for<[string, Record<string, unknown>, string]>([
    ['/items/{id}', { id: 'a/../b?c#d' }, '/items/a%2F..%2Fb%3Fc%23d'],
    ['/items/{id}.json', { id: ['a', 2] }, '/items/a,2.json'],
    ['/items/{id}', { id: { a: 1 } }, '/items/%7B%22a%22%3A1%7D'],
    ['/a b/{id}', { id: 1 }, '/a%20b/1'],
    ['?q={q}&lang=de', { q: 'a&b=c' }, '/?q=a%26b%3Dc&lang=de'],
    ['?q={q}&page={page}', { q: 'x' }, '/?q=x'],
    ['?at={a},{b}', { a: 1 }, '/?at=1,'],
    ['/x#part', {}, '/x'],
    [
      '/x',
      { 'a b': 'c&d', list: [1, 2], deep: { e: 1 }, none: null },
      '/x?a%20b=c%26d&list=1&list=2&deep=%7B%22e%22%3A1%7D',
    ],
    ['/x?y=1', { z: true }, '/x?y=1&z=true'],
    ['/{a}/{b}', { a: '{b}', b: '{a}' }, '/%7Bb%7D/%7Ba%7D'],
    ['?a={a}', { a: '{b}', b: 'secret' }, '/?a=%7Bb%7D&b=secret'],
  ])('%s with %j is %s', ([url, values, written]) => {
    expect(urlOf(`https://api.example.com${url}`, values)).toBe(`https://api.example.com${written}`)
  })

  test.for<[Record<string, unknown>, RegExp]>([
    [{}, /id: is required/],
    [{ id: '' }, /id: must not be empty/],
    [{ id: '..' }, /url: a part of the path must not be/],
    [{ id: '.' }, /url: a part of the path must not be/],
  ])('%j is refused', ([values, message]) => {
    expect(() => urlOf('https://api.example.com/a/{id}/b', values)).toThrow(message)
  })
})

describe('the body', () => {
  function sent(configuration: Partial<ManualConfiguration>, values: Record<string, unknown>) {
    const { body, headers } = buildHttpRequest({ ...base, method: 'POST', ...configuration }, values)
    return { body, type: headers['content-type'] }
  }

  test.for<[unknown, Record<string, unknown>, unknown]>([
    ['{"a": "{a}", "b": {b}}', { a: 'x"y', b: [1] }, { a: 'x"y', b: [1] }],
    ['{"a": "{a}"}', { a: { b: 1 } }, { a: { b: 1 } }],
    ['{"a": "Hello {a}!"}', { a: '"},{\\' }, { a: 'Hello "},{\\!' }],
    ['{"a": "{a} {b}"}', { a: '{b}', b: '{a}' }, { a: '{b} {a}' }],
    ['{"a": "{a}", "b": ["{a}", 1]}', {}, { b: [null, 1] }],
    ['{"{a}": 1}', { a: 7 }, {}],
    ['{a}', { a: [1, 2] }, [1, 2]],
    ['{"a\\"{b}": "{b}"}', { b: 'x' }, { 'a"x': 'x' }],
    [{ a: ['{a}'], b: 5, c: null }, { a: true }, { a: [true], b: 5, c: null }],
    [['{a}'], { a: { __proto__: null, x: 1 } }, [{ x: 1 }]],
  ])('%j with %j', ([body, values, expected]) => {
    const request = sent({ body }, values)
    const wanted = body === '{"{a}": 1}' ? { '7': 1 } : expected
    expect(JSON.parse(String(request.body))).toEqual(wanted)
    expect(request.type).toBe('application/json')
  })

  test('text in which quotes never end, as long as there may be one, each time anew', () => {
    const body = 'x\\"'.repeat(21_000)
    for (let call = 0; call < 20; call += 1) expect(sent({ body }, {}).body).toBe(body)
  })

  test('text, and forms by their content type', () => {
    expect(sent({ body: 'Dear {name}' }, { name: '{name} & Co' })).toEqual({
      body: 'Dear {name} & Co',
      type: 'text/plain; charset=utf-8',
    })
    const headers = '{"content-type": "application/x-www-form-urlencoded"}'
    expect(sent({ body: 'a={a}&b=1', headers }, { a: 'x&y' }).body).toBe('a=x%26y&b=1')
    expect(sent({ headers }, { a: 'x&y', b: [1, 2] }).body).toBe('a=x%26y&b=1&b=2')
    expect(sent({ body: '<a>{a}</a>', headers: '{"Content-Type": "application/xml"}' }, { a: 1 })).toEqual({
      body: '<a>1</a>',
      type: 'application/xml',
    })
  })

  test.each<[string, unknown, Record<string, unknown>, string]>([
    ['urlencoded', 'tag={tags}&b={b}', { tags: ['x y', '&'], b: 1 }, 'tag=x%20y&tag=%26&b=1'],
    [
      'urlencoded',
      { 'tag[]': '{tags}', fix: ['A', 2], none: '{none}' },
      { tags: ['x y'] },
      'tag%5B%5D=x+y&fix=A&fix=2',
    ],
    ['urlencoded', undefined, { tags: ['x', 'y'], none: null }, 'tags=x&tags=y'],
  ])('forms repeat the fields of lists: %s %j', (_, body, values, expected) => {
    const headers = '{"content-type": "application/x-www-form-urlencoded"}'
    expect(sent({ headers, ...(body !== undefined && { body }) }, values)).toEqual({
      body: expected,
      type: 'application/x-www-form-urlencoded',
    })
  })

  test('multipart forms are real, and no form holds objects', () => {
    const headers = '{"content-type": "multipart/form-data"}'
    const { body, type } = sent({ headers, body: { a: '{a}' } }, { a: 'x\r\n--y' })
    const boundary = String(type).split('boundary=')[1]
    expect(Buffer.from(body as Uint8Array).toString()).toBe(
      `--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--y\r\n--${boundary}--\r\n`,
    )
    expect(sent({ headers }, { a: 1 }).type).toMatch(/boundary=/)
    expect(() => sent({ headers, body: 'a={a}' }, { a: 1 })).toThrow(/object of fields/)
    for (const others of [
      { headers },
      { headers: headers.replace('multipart/form-data', 'application/x-www-form-urlencoded') },
    ])
      expect(() => sent(others, { a: { b: 1 } })).toThrow(/a: holds an object/)
  })

  test('arguments without a place are the body of a POST, and left out beside a template', () => {
    expect(sent({}, { a: 1, b: null })).toEqual({ body: '{"a":1,"b":null}', type: 'application/json' })
    expect(sent({ url: 'https://a.example.com/{a}' }, { a: 1, b: 2 }).body).toBe('{"b":2}')
    expect(sent({ body: '{"x": "{a}"}' }, { a: 1, b: 2 }).body).toBe('{"x":1}')
    expect(sent({}, {}).body).toBeNull()
    expect(buildHttpRequest({ ...base, method: 'DELETE' }, { a: 1 })).toMatchObject({
      body: null,
      url: `${base.url}?a=1`,
    })
  })
})

test('values in lines of JSON are escaped', () => {
  const given = {
    ...base,
    method: 'POST' as const,
    headers: '{"Content-Type": "application/x-ndjson"}',
    body: '{"t":"{t}","n":{n}}\n["{t}","<{t}>"]\n',
  }
  const t = 'a"\n{n}'
  const lines = String(buildHttpRequest(given, { t, n: 1 }).body).split('\n')
  expect(lines.map(line => line && JSON.parse(line))).toEqual([{ t, n: 1 }, [t, `<${t}>`], ''])
})

describe('headers', () => {
  const headers =
    '{"X-Key": "secret", "Accept": "text/csv", "X-User": "u-{user}", "Host": "x", "X-Json": "{\\"a\\":1}"}'

  test('are sent, filled and told apart', () => {
    const request = buildHttpRequest({ ...base, headers }, { user: 7 })
    expect(request.headers).toEqual({
      accept: 'text/csv',
      'x-key': 'secret',
      'x-user': 'u-7',
      'x-json': '{"a":1}',
    })
    expect(request.secretHeaders).toEqual(['x-key', 'x-user', 'host', 'x-json'])
  })

  test('no argument can add one', () => {
    expect(() => buildHttpRequest({ ...base, headers }, { user: 'a\r\nX: y' })).toThrow(
      /user: must not hold a line break/,
    )
    expect(() => buildHttpRequest({ ...base, headers: '[]' }, {})).toThrow(/headers: must be a JSON object/)
  })
})

test('the placeholders of a configuration as its arguments', () => {
  const configuration: ManualConfiguration = {
    url: 'https://a.example.com/{id}?q={q}',
    method: 'POST',
    headers: '{"X-User": "{user}"}',
    body: '{"count": {count}, "mixed": "{mixed}", "text": "a {mixed}", "id": "{id}"}',
  }
  expect(placeholdersOf(configuration)).toEqual({
    type: 'object',
    properties: {
      id: { type: 'string' },
      q: { type: 'string' },
      user: { type: 'string' },
      count: {},
      mixed: { type: 'string' },
    },
    required: ['id', 'q', 'user', 'count', 'mixed'],
    additionalProperties: false,
  })
  expect(placeholdersOf(base)).toMatchObject({ properties: {}, required: [] })
  const imported = {
    baseUrl: 'https://a.example.com',
    pathTemplate: '/{a}',
    method: 'GET' as const,
    pathParams: ['a'],
    queryParams: ['b'],
  }
  expect(placeholdersOf(imported)).toMatchObject({ properties: { a: {}, b: {} }, required: ['a'] })
})
