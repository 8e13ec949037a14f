import { expect, it } from 'vitest'
import { readContent } from './read-content.ts'
import { decodeText } from './response-body.ts'

function read(type: string | undefined, content: string | Uint8Array) {
  const body = new Uint8Array(Buffer.from(content as string))
  const headers = new Headers(type === undefined ? {} : { 'content-type': type })
  return readContent({ headers, body, text: () => decodeText(body, type ?? null) }, [])
}

it.each([
  ...['application/x-ndjson', 'application/jsonl', 'application/x-yaml', 'application/yaml', 'image/svg+xml'],
  ...[
    'application/toml',
    'application/sql',
    'application/graphql',
    'application/vnd.api+yaml',
    'application/x-sh',
  ],
  ...[
    'application/octet-stream',
    'application/octet-stream; charset=utf-8',
    'application/unheard-of',
    undefined,
  ],
  ...['TEXT/CSV', 'model/gltf+json-seq', 'application/xml-dtd', 'application/pgp-signature'],
])('a text of the type %s arrives', type => expect(read(type, 'payload: ä\n')).toBe('payload: ä\n'))

it.each<[string, string | Uint8Array]>([
  ['application/octet-stream', new Uint8Array([0x89, 0x50, 0x4e, 0x47])],
  ['application/unheard-of', 'a\u0000b'],
  ['application/unheard-of', '\u0001\u0002'],
  ['image/png', 'no picture'],
  ['application/pdf', '%PDF-1.7'],
])('other bytes of the type %s are named', (type, content) =>
  expect(read(type, content)).toMatch(/^\d+ bytes of .*, which are not text\.$/),
)
