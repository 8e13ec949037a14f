import { describe, expect, test } from 'vitest'
import { buildHttpRequest } from './build-request.ts'
import type {
  ImportedConfiguration,
  PlacedArgument,
  RequestBody,
  SecurityScheme,
} from './http-configuration.ts'

const plain: ImportedConfiguration = {
  baseUrl: 'https://api.example.com/v1',
  pathTemplate: '/pets/{id}',
  method: 'GET',
  pathParams: ['id'],
  queryParams: ['q'],
}

type Placed = Partial<PlacedArgument> & Pick<PlacedArgument, 'in' | 'style'>

/** A tool with the one argument `v`. */
function withArgument(placed: Placed): ImportedConfiguration {
  const argument = { argument: 'v', name: 'v', explode: false, required: false, ...placed }
  return { ...plain, pathTemplate: placed.in === 'path' ? '/a/{v}/b' : '/a', placement: [argument] }
}

function sent(placed: Placed, value: unknown) {
  return buildHttpRequest(withArgument(placed), { v: value })
}

const list = ['a', 'b/c', 3]
const object = { R: 100, 'G h': true, none: null }

describe('values in a path', () => {
  test.for<[PlacedArgument['style'], boolean, unknown, string]>([
    ['simple', false, 5, '5'],
    ['simple', false, 'ü &/?#%2e', '%C3%BC%20%26%2F%3F%23%252e'],
    ['simple', false, '../..', '..%2F..'],
    ['simple', false, 'a\\..\\b', 'a%5C..%5Cb'],
    ['simple', false, '\ud800', '%EF%BF%BD'],
    ['simple', false, true, 'true'],
    ['simple', false, list, 'a,b%2Fc,3'],
    ['simple', true, list, 'a,b%2Fc,3'],
    ['simple', false, object, 'R,100,G%20h,true'],
    ['simple', true, object, 'R=100,G%20h=true'],
    ['label', false, 'x', '.x'],
    ['label', false, list, '.a,b%2Fc,3'],
    ['label', true, list, '.a.b%2Fc.3'],
    ['label', true, object, '.R=100.G%20h=true'],
    ['matrix', false, 'x', ';v=x'],
    ['matrix', false, list, ';v=a,b%2Fc,3'],
    ['matrix', true, list, ';v=a;v=b%2Fc;v=3'],
    ['matrix', false, object, ';v=R,100,G%20h,true'],
    ['matrix', true, object, ';R=100;G%20h=true'],
  ])('%s, explode %s: %j is %s', ([style, explode, value, written]) => {
    const { url } = sent({ in: 'path', style, explode }, value)
    expect(url).toBe(`https://api.example.com/v1/a/${written}/b`)
    expect(new URL(url).href).toBe(url)
  })

  test.for<[unknown, RegExp]>([
    ['', /v: must not be empty/],
    [[], /v: must not be empty/],
    [[''], /v: must not be empty/],
    ['.', /v: must not be "\." or "\.\."/],
    ['..', /v: must not be "\." or "\.\."/],
    [['..'], /v: must not be "\." or "\.\."/],
    [null, /v: is required/],
    [undefined, /v: is required/],
  ])('%j is refused', ([value, message]) => {
    expect(() => sent({ in: 'path', style: 'simple', required: true }, value)).toThrow(message)
  })

  test('two values together must not make a step either', () => {
    const configuration = { ...plain, pathTemplate: '/x/{a}{b}/y', pathParams: ['a', 'b'] }
    expect(() => buildHttpRequest(configuration, { a: '.', b: 'x' })).toThrow(/"\." or "\.\."/)
    expect(() => buildHttpRequest({ ...configuration, pathTemplate: '/x/.{a}' }, { a: 'x' })).not.toThrow()
    const label = { ...withArgument({ in: 'path', style: 'label' }), pathTemplate: '/x/{v}' }
    expect(() => buildHttpRequest(label, { v: '.' })).toThrow(/"\." or "\.\."/)
  })

  test.for([
    ['/a b/{id}.json', 'https://api.example.com/v1/a%20b/7.json?q=x'],
    ['/{id}?fixed=1&e=a b', 'https://api.example.com/v1/7?fixed=1&e=a%20b&q=x'],
    ['/?a={id}&b={id}#{id}', 'https://api.example.com/v1/?a=7&b=7&q=x'],
    ['/#Action={id}', 'https://api.example.com/v1/?q=x'],
    ['/%7Bid%7D/{id}', 'https://api.example.com/v1/%7Bid%7D/7?q=x'],
    ['//evil.example.com/{id}', 'https://api.example.com/v1//evil.example.com/7?q=x'],
    ['/@evil.example.com/\\{id}', 'https://api.example.com/v1/@evil.example.com/%5C7?q=x'],
  ])('the template %s gives %s', ([pathTemplate = '', url]) => {
    expect(buildHttpRequest({ ...plain, pathTemplate }, { id: 7, q: 'x' }).url).toBe(url)
  })

  test('the template can not leave the base either', () => {
    expect(() => buildHttpRequest({ ...plain, pathTemplate: '/../{id}' }, { id: 1 })).toThrow(
      /"\." or "\.\."/,
    )
    expect(() => buildHttpRequest({ ...plain, baseUrl: 'ftp://a' }, { id: 1 })).toThrow(
      /baseUrl: .*only http and https/,
    )
    expect(() => buildHttpRequest({ ...plain, baseUrl: '/v1' }, { id: 1 })).toThrow(
      /baseUrl: .*not a full address/,
    )
    expect(() => buildHttpRequest({ ...plain, baseUrl: 'https://{host}/' }, { id: 1 })).toThrow(
      /baseUrl: .*variable/,
    )
  })
})

describe('values in a query', () => {
  test.for<[PlacedArgument['style'], boolean, unknown, string]>([
    ['form', true, 'a&b=c#d+e', '?v=a%26b%3Dc%23d%2Be'],
    ['form', true, 0, '?v=0'],
    ['form', true, '', '?v='],
    ['form', true, null, ''],
    ['form', true, list, '?v=a&v=b%2Fc&v=3'],
    ['form', false, list, '?v=a,b%2Fc,3'],
    ['form', true, [], ''],
    ['form', true, object, '?R=100&G%20h=true'],
    ['form', false, object, '?v=R,100,G%20h,true'],
    ['spaceDelimited', false, list, '?v=a%20b%2Fc%203'],
    ['pipeDelimited', false, list, '?v=a%7Cb%2Fc%7C3'],
    ['pipeDelimited', true, list, '?v=a&v=b%2Fc&v=3'],
    [
      'deepObject',
      true,
      { a: { b: 1 }, c: ['x', null, 'y'] },
      '?v%5Ba%5D%5Bb%5D=1&v%5Bc%5D%5B0%5D=x&v%5Bc%5D%5B2%5D=y',
    ],
    ['deepObject', true, 'x', '?v=x'],
  ])('%s, explode %s: %j is %s', ([style, explode, value, query]) => {
    expect(sent({ in: 'query', style, explode }, value).url).toBe(`https://api.example.com/v1/a${query}`)
  })

  test('an argument that is not given leaves nothing behind', () => {
    for (const json of [true, false]) {
      const configuration = withArgument({ in: 'query', style: 'form', json })
      expect(buildHttpRequest(configuration, {}).url).toBe('https://api.example.com/v1/a')
    }
  })

  test('as JSON, and with reserved characters', () => {
    expect(sent({ in: 'query', style: 'form', json: true }, { a: [1] }).url).toContain(
      '?v=%7B%22a%22%3A%5B1%5D%7D',
    )
    expect(sent({ in: 'query', style: 'form', allowReserved: true }, 'a/b?c:d&e#f').url).toContain(
      '?v=a/b?c:d%26e%23f',
    )
  })

  test('what objects inherit is no argument', () => {
    const configuration = {
      ...plain,
      pathTemplate: '/a',
      pathParams: [],
      queryParams: ['constructor', 'toString'],
    }
    expect(buildHttpRequest(configuration, {}).url).toBe('https://api.example.com/v1/a')
  })
})

describe('headers and cookies', () => {
  test.for<[boolean, unknown, string]>([
    [false, 'plain text', 'plain text'],
    [false, [1, 2], '1,2'],
    [false, { a: 1, b: 2 }, 'a,1,b,2'],
    [true, { a: 1, b: 2 }, 'a=1,b=2'],
    [false, 'é', 'é'],
  ])('explode %s: %j is %s', ([explode, value, written]) => {
    expect(sent({ in: 'header', style: 'simple', explode, name: 'X-V' }, value).headers['x-v']).toBe(written)
  })

  test.for<[string, RegExp]>([
    ['a\r\nX-Other: b', /v: must not hold a line break/],
    ['日本', /v: holds a character that headers have no place for/],
    ['a\u0000b', /v: holds a character/],
  ])('%j is refused', ([value, message]) => {
    expect(() => sent({ in: 'header', style: 'simple', name: 'X-V' }, value)).toThrow(message)
  })

  test('headers of the connection are never set', () => {
    const { headers } = sent({ in: 'header', style: 'simple', name: 'Host' }, 'evil.example.com')
    expect(headers).toEqual({ accept: 'application/json, */*;q=0.5' })
  })

  test('cookies stand in one header', () => {
    const cookie = (name: string): PlacedArgument => ({
      argument: name,
      name,
      in: 'cookie',
      style: 'form',
      explode: true,
      required: false,
    })
    const configuration = { ...plain, pathTemplate: '/a', placement: [cookie('a'), cookie('b')] }
    expect(buildHttpRequest(configuration, { a: 'x; y=z', b: [1, 2] }).headers.cookie).toBe(
      'a=x%3B%20y%3Dz; b=1; b=2',
    )
  })
})

describe('bodies', () => {
  function bodyOf(requestBody: Omit<RequestBody, 'argument' | 'required'>, value: unknown) {
    const body = { argument: 'body', required: true, ...requestBody }
    const configuration = {
      ...plain,
      method: 'POST' as const,
      pathTemplate: '/a',
      placement: [],
      requestBody: body,
    }
    const request = buildHttpRequest(configuration, { body: value })
    const text = typeof request.body === 'string' ? request.body : Buffer.from(request.body ?? '').toString()
    return { type: request.headers['content-type'], text }
  }

  test.for<[string, unknown, string, string]>([
    ['application/json', { a: 'ü' }, 'application/json', '{"a":"ü"}'],
    ['application/vnd.api+json', null, 'application/vnd.api+json', 'null'],
    ['*/*', [1], 'application/json', '[1]'],
    ['text/plain', 'x', 'text/plain', 'x'],
    ['application/xml', '<a/>', 'application/xml', '<a/>'],
    ['application/octet-stream', { a: 1 }, 'application/octet-stream', '{"a":1}'],
    [
      'application/x-www-form-urlencoded',
      { a: 'b&c', d: [1, 2], e: { f: 1 }, g: null },
      'application/x-www-form-urlencoded',
      'a=b%26c&d=1&d=2&e=%7B%22f%22%3A1%7D',
    ],
  ])('%s: %j', ([mediaType, value, type, text]) => {
    expect(bodyOf({ mediaType }, value)).toEqual({ type, text })
  })

  test('the fields of a form follow their styles', () => {
    const fields: RequestBody['fields'] = [
      { name: 'a', style: 'deepObject', explode: true },
      { name: 'b', style: 'pipeDelimited' },
      { name: 'c', style: 'form', explode: false },
    ]
    const value = { a: { x: 1 }, b: [1, 2], c: [3, 4] }
    expect(bodyOf({ mediaType: 'application/x-www-form-urlencoded', fields }, value).text).toBe(
      'a%5Bx%5D=1&b=1%7C2&c=3,4',
    )
  })

  test('a form of several parts is read by the platform as it was meant', async () => {
    const value = { 'na"me\r\n': 'a\r\n--form', list: [1, 2], meta: { a: 1 }, file: 'x,y\n1,2', none: null }
    const fields = [{ name: 'file', isFile: true, contentType: 'text/csv' }]
    const { type, text } = bodyOf({ mediaType: 'multipart/form-data', fields }, value)
    const form = await new Response(text, { headers: { 'content-type': String(type) } }).formData()
    const file = form.get('file')
    expect([...form.keys()]).toEqual(['na"me\r\n', 'list', 'list', 'meta', 'file'])
    expect(form.get('na"me\r\n')).toBe('a\r\n--form')
    expect(form.getAll('list')).toEqual(['1', '2'])
    expect(form.get('meta')).toBe('{"a":1}')
    expect(file instanceof File && [file.type, await file.text()]).toEqual(['text/csv', 'x,y\n1,2'])
  })

  test('a form needs an object, a required body a value', () => {
    expect(() => bodyOf({ mediaType: 'multipart/form-data' }, 'x')).toThrow(/body: must be an object/)
    expect(() => bodyOf({ mediaType: 'application/json' }, undefined)).toThrow(/body: is required/)
  })
})

describe('credentials', () => {
  const bearer: SecurityScheme = { scheme: 'token', type: 'bearer' }
  const basic: SecurityScheme = { scheme: 'user', type: 'basic' }
  const header: SecurityScheme = { scheme: 'key', type: 'apiKey', in: 'header', name: 'X-Key' }
  const query: SecurityScheme = { scheme: 'q', type: 'apiKey', in: 'query', name: 'api key' }
  const cookie: SecurityScheme = { scheme: 'sid', type: 'apiKey', in: 'cookie', name: 'sid' }
  const base = { ...plain, pathTemplate: '/a' }

  function request(security: SecurityScheme[][], credentials: Parameters<typeof buildHttpRequest>[2]) {
    return buildHttpRequest({ ...base, security }, { q: 'x' }, credentials)
  }

  test('each goes where its scheme says', () => {
    const all = { token: 'Bearer t1', key: 'k1', q: 'k&2', sid: 's=1' }
    const sent = request([[bearer, header, query, cookie]], all)
    expect(sent.headers).toMatchObject({ authorization: 'Bearer t1', 'x-key': 'k1', cookie: 'sid=s%3D1' })
    expect(sent.url).toBe('https://api.example.com/v1/a?q=x&api%20key=k%262')
    expect(sent.secretHeaders).toEqual(['authorization', 'x-key', 'cookie'])
    expect(sent.secretQuery).toEqual(['api key'])
    expect(sent.missingCredentials).toEqual([])
  })

  test('basic', () => {
    const both = request([[basic]], { user: { username: 'né', password: 'a:b' } })
    expect(both.headers.authorization).toBe(`Basic ${Buffer.from('né:a:b').toString('base64')}`)
    expect(request([[basic]], { user: 'a:b' }).headers.authorization).toBe('Basic YTpi')
  })

  test.for<[SecurityScheme[][], Record<string, string>, string[], string[]]>([
    [[[bearer], [header]], { key: 'k' }, ['x-key'], []],
    [[[bearer, header], [basic]], { key: 'k' }, [], ['token']],
    [[[bearer], []], {}, [], []],
    [[[], [bearer]], { token: 't' }, ['authorization'], []],
    [[[{ ...bearer, scheme: 'constructor' }]], {}, [], ['constructor']],
  ])('%j with %j', ([security, credentials, secretHeaders, missingCredentials]) => {
    expect(request(security, credentials)).toMatchObject({ secretHeaders, missingCredentials })
  })

  test('a credential wins over an argument of its name', () => {
    const argument = (place: 'header' | 'query' | 'cookie', name: string): PlacedArgument => ({
      argument: `${place}Key`,
      name,
      in: place,
      style: place === 'header' ? 'simple' : 'form',
      explode: true,
      required: false,
    })
    const placement = [argument('header', 'x-key'), argument('query', 'api key'), argument('cookie', 'sid')]
    const sent = buildHttpRequest(
      { ...base, placement, security: [[header, query, cookie]] },
      { headerKey: 'no', queryKey: 'no', cookieKey: 'no' },
      { key: 'k', q: 'k', sid: 'k' },
    )
    expect(`${sent.url} ${JSON.stringify(sent.headers)}`).not.toContain('no')
  })

  test.for([
    [bearer, 'a\r\nb', /credential token: must not hold a line break/],
    [header, '日本', /credential key: holds a character/],
    [basic, 'no colon', /credential user: must be a user name and a password/],
    [basic, { username: 'a:b', password: 'c' }, /credential user: its user name must not hold a colon/],
    [bearer, { username: 'a', password: 'c' }, /credential token: must be a text/],
  ] as const)('%j can not send %j', ([scheme, credential, message]) => {
    const call = () => request([[scheme]], { [scheme.scheme]: credential })
    expect(call).toThrow(message)
    expect(call).not.toThrow(/日本|no colon/)
  })
})
