import { expect, test } from 'vitest'
import { testApp } from '#test/support/build-app.ts'
import { makeDocxFromXml } from '#test/support/documents.ts'
import { formOf, uploadAndProcess } from '#test/support/upload.ts'
import type { Source } from './sources.schema.ts'

const sources = '/api/agents/default/sources'

test('a source names what of its file could not be read, until another file is', async () => {
  const app = await testApp()
  const object =
    '<w:r><w:object><o:OLEObject xmlns:o="urn:schemas-microsoft-com:office:office" Type="Embed" ProgID="Excel.Sheet.12"/></w:object></w:r>'
  const content = makeDocxFromXml(`<w:p><w:r><w:t>Prices:</w:t></w:r>${object}</w:p>`)
  const id = await uploadAndProcess(app, { name: 'prices.docx', content })
  const warnings = [expect.stringContaining('Excel.Sheet.12')]
  expect((await app.call('GET', `${sources}/${id}`)).body).toMatchObject({ status: 'ready', warnings })
  expect((await app.call('GET', sources)).body).toMatchObject({ sources: [{ id, warnings }] })
  const form = await formOf([['file', new File(['Tea costs 3 crowns.'], 'prices.txt')]])
  await app.call('PUT', `${sources}/${id}/file`, form)
  await app.service.infrastructure.runner.idle()
  const { body } = await app.call<Source>('GET', `${sources}/${id}`)
  expect(body.status).toBe('ready')
  expect(body).not.toHaveProperty('warnings')
})
