import { expect, test } from 'vitest'
import { validateHttpConfiguration } from './validate-configuration.ts'

const manual = { url: 'https://api.example.com/items/{id}?q={q}', method: 'POST' }
const imported = {
  baseUrl: 'https://api.example.com/v1',
  pathTemplate: '/a/{b}',
  method: 'GET',
  pathParams: ['b'],
  queryParams: [],
}

test.for<[string, unknown]>([
  ['a manual tool', manual],
  [
    'with everything',
    {
      ...manual,
      headers: '{"X-Key": "k", "X-Id": "{id}"}',
      body: '{"n": {n}}',
      parameters: { type: 'object', properties: {} },
    },
  ],
  ['with a value as body', { ...manual, body: { a: '{b}' } }],
  ['without headers', { ...manual, headers: ' ' }],
  ['an imported tool', imported],
  ['a local address, which the outbound guard decides on', { ...manual, url: 'http://127.0.0.1:8080/x' }],
])('%s is fine', ([, configuration]) => {
  expect(validateHttpConfiguration(configuration)).toBeUndefined()
})

test.for<[unknown, string, RegExp]>([
  [null, '', /must be an object/],
  [[], '', /must be an object/],
  [{}, 'url', /is required/],
  [{ ...manual, url: 7 }, 'url', /must be a string/],
  [{ ...manual, method: 'TRACE' }, 'method', /must be one of GET, POST/],
  [{ ...manual, headers: { a: 'b' } }, 'headers', /must be a string/],
  [{ ...manual, url: 'ftp://a.example.com' }, 'url', /must be a full http or https address/],
  [{ ...manual, url: '/items' }, 'url', /must be a full http or https address/],
  [{ ...manual, url: 'https://{host}/items' }, 'url', /placeholder in its host/],
  [{ ...manual, url: 'https://a.example.com:{port}/' }, 'url', /placeholder in its host/],
  [{ ...manual, url: 'https://{user}@a.example.com/' }, 'url', /placeholder in its host/],
  [{ ...manual, url: '{scheme}://a.example.com/' }, 'url', /must be a full http/],
  [{ ...manual, url: 'https://a:b@c.example.com/' }, 'url', /user name or password/],
  [{ ...manual, url: 'https://a.example.com\\@b.example.com/' }, 'url', /backslash/],
  [{ ...manual, url: 'https://a.example.com/{a b}' }, 'url', /brace that belongs to no placeholder/],
  [{ ...manual, url: 'https://a.example.com/{a' }, 'url', /brace that belongs to no placeholder/],
  [{ ...manual, url: 'https://a.example.com/../x' }, 'url', /must not hold "\." or "\.\."/],
  [{ ...manual, headers: 'X-Key: k' }, 'headers', /must be the text of a JSON object/],
  [{ ...manual, headers: '{"a": 1}' }, 'headers', /must be the text of a JSON object/],
  [{ ...manual, headers: '{"a b": "c"}' }, 'headers', /holds a name that is not valid: "a b"/],
  [{ ...manual, headers: '{"Host": "c"}' }, 'headers', /must not set Host/],
  [{ ...manual, headers: '{"X-Key": "a\\r\\nb"}' }, 'headers', /value of X-Key holds a line break/],
  [{ ...manual, method: 'GET', body: '{}' }, 'body', /can't be sent with GET/],
  [{ ...manual, body: '{"a": }' }, 'body', /is not valid JSON/],
  [{ ...manual, body: 'x', headers: '{"Content-Type": "application/json"}' }, 'body', /is not valid JSON/],
  [{ ...manual, body: 'x'.repeat(70_000) }, 'body', /must not be longer than/],
  [{ ...manual, parameters: { type: 'string' } }, 'parameters.properties', /is required/],
  [
    { ...manual, parameters: { type: 'object', properties: { a: { type: 'file' } } } },
    'parameters',
    /is not a JSON Schema/,
  ],
  [
    { ...manual, parameters: { type: 'object', properties: { a: { $ref: 'https://x.example.com' } } } },
    'parameters',
    /is not a JSON Schema/,
  ],
  [{ ...imported, baseUrl: '/v1' }, 'baseUrl', /not a full address/],
  [{ ...imported, baseUrl: 'https://a.example.com/?x=1' }, 'baseUrl', /must end with its path/],
  [{ ...imported, baseUrl: 'https://a.example.com/{x}' }, 'baseUrl', /variable in braces/],
  [{ ...imported, pathTemplate: 'a' }, 'pathTemplate', /must match pattern/],
  [{ ...imported, pathTemplate: '/a/%2E./b' }, 'pathTemplate', /must not hold "\." or "\.\."/],
  [{ ...imported, pathParams: 'b' }, 'pathParams', /must be a list/],
])('%j is refused for %s', ([configuration, field, issue]) => {
  expect(validateHttpConfiguration(configuration)).toEqual({ field, issue: expect.stringMatching(issue) })
})
