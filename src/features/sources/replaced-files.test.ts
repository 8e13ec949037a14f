import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SearchResult } from '#features/knowledge/knowledge.schema.ts'
import { type Answer, buildApp, type TestApp } from '#test/support/build-app.ts'
import { formOf, upload, uploadAndProcess } from '#test/support/upload.ts'
import type { Source } from './sources.schema.ts'

const sources = '/api/agents/default/sources'
let app: TestApp

beforeAll(async () => {
  app = await buildApp()
})

afterAll(() => app.close())

async function replace(id: string, name: string, content: string, fields: Record<string, string> = {}) {
  const form = await formOf([...Object.entries(fields), ['file', new File([content], name)]])
  return app.call<Source>('PUT', `${sources}/${id}/file`, form)
}

async function found(query: string): Promise<string[]> {
  const { body } = await app.call<{ results: SearchResult[] }>('GET', `${sources}/search?query=${query}`)
  return body.results.map(({ content }) => content)
}

const idle = () => app.service.infrastructure.runner.idle()

test.each<[string, (id: string, text: string) => Promise<Answer<{ id: string }>>, number]>([
  ['a file that is put in its place', (id, text) => replace(id, 'ferry.md', text), 200],
  [
    'an upload of the same name that replaces',
    (_, content) => upload(app, { name: 'ferry.md', content, fields: { replace: 'true' } }),
    201,
  ],
])('a source keeps its id and is found by %s', async (_, put, status) => {
  const options = { name: 'ferry.md', content: 'The ferry costs 7 crowns.', fields: { chunk_size: '300' } }
  const id = await uploadAndProcess(app, options)
  const answer = await put(id, 'The ferry costs 9 crowns.')
  expect(answer).toMatchObject({ status, body: { id, name: 'ferry.md', status: 'updating' } })
  await idle()
  expect(await found('ferry')).toEqual(['The ferry costs 9 crowns.'])
  expect((await app.call('GET', `${sources}/${id}/file`)).body).toBe('The ferry costs 9 crowns.')
  const { body } = await app.call('GET', `${sources}/${id}`)
  expect(body).toMatchObject({ status: 'ready', config: { chunk_size: 300 } })
  await app.call('DELETE', `${sources}/${id}`)
  await idle()
})

test('the passages of the former file are found while the new one is read, and after it can not be read', async () => {
  const id = await uploadAndProcess(app, { name: 'pier.txt', content: 'The pier opens at noon.' })
  const { body } = await replace(id, 'pier.pdf', 'no PDF', { chunk_size: '500' })
  expect(body).toMatchObject({ name: 'pier.pdf', config: { file_name: 'pier.pdf', chunk_size: 500 } })
  expect(await found('pier')).toEqual(['The pier opens at noon.'])
  await idle()
  expect((await app.call('GET', `${sources}/${id}`)).body).toMatchObject({ status: 'error' })
  expect(await found('pier')).toEqual(['The pier opens at noon.'])
  await replace(id, 'pier.txt', 'The pier opens at dawn.')
  await idle()
  expect(await found('pier')).toEqual(['The pier opens at dawn.'])
})

test('what can not be replaced stays as it is', async () => {
  const id = await uploadAndProcess(app, { name: 'quay.txt', content: 'The quay is long.' })
  const json = { type: 'database', name: 'Query', query: 'select 1 as one' }
  const query = await app.call<Source>('POST', sources, { body: json })
  await idle()
  const answers = [
    await replace('nowhere', 'a.txt', 'A'),
    await replace(query.body.id, 'a.txt', 'A'),
    await replace(id, 'a.exe', 'A'),
    await replace(id, 'a.txt', 'A', { overlap: 'much' }),
    await app.call('PUT', `${sources}/${id}/file`, { body: {} }),
    await upload(app, { name: 'quay.txt', content: 'A', fields: { replace: 'yes' } }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([404, 400, 415, 400, 415, 400])
  expect(await found('quay')).toEqual(['The quay is long.'])
  await replace(id, 'quay.txt', 'The quay is short.')
  expect((await replace(id, 'quay.txt', 'The quay is new.')).status).toBe(409)
  await idle()
  expect(await found('quay')).toEqual(['The quay is short.'])
})

test('without a source of the same name, an upload that replaces is a new one', async () => {
  const { status } = await upload(app, {
    name: 'mole.txt',
    content: 'The mole.',
    fields: { replace: 'true' },
  })
  expect(status).toBe(201)
  await idle()
  expect(await found('mole')).toEqual(['The mole.'])
})
