import { expect, test } from 'vitest'
import { defaultChunking } from '#documents/chunking/chunking-options.ts'
import { readPage } from './crawl.worker.ts'

const html = (head: string) =>
  `<html><head>${head}</head><body><p>Otters.</p><a href="/b">b</a></body></html>`

const read = (head: string, robotsTag: string) =>
  readPage({
    body: new Uint8Array(Buffer.from(html(head))),
    contentType: 'text/html',
    robotsTag,
    url: 'http://example.com/a',
    patterns: { include: [], exclude: [] },
    chunking: defaultChunking,
    isCut: true,
    repeated: '',
  })

test.each([
  ['in its header', '', 'noindex'],
  ['in its head', '<meta name="robots" content="noindex">', ''],
])('a page that asks %s not to be indexed is read for its links alone', async (_where, head, robotsTag) => {
  const page = await read(head, robotsTag)
  expect(page).toMatchObject({
    omitted: 'It asks not to be indexed.',
    noFollow: false,
    links: ['http://example.com/b'],
    hash: '',
  })
  expect(page?.chunks).toBeUndefined()
})

test('what the header and the head ask for holds together', async () => {
  expect(await read('<meta name="robots" content="nofollow">', 'noarchive')).toMatchObject({
    omitted: undefined,
    noFollow: true,
    chunks: 1,
  })
})
