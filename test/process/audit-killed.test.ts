import { expect, it } from 'vitest'
import type { AuditEntry } from '#features/audit/audit.schema.ts'
import { startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const agent = '/api/agents/default'

it('kill -9 loses neither a change nor its entry', async () => {
  const dataDirectory = temporaryDirectory()
  const killed = await startServerProcess({ dataDirectory })
  let sent = 0
  const next = () => {
    sent += 1
    return `Contact ${sent}`
  }
  const senders = Array.from({ length: 8 }, async () => {
    while (sent < 400)
      await killed.call('POST', `${agent}/contacts`, { body: { name: next() } }).catch(() => {})
  })
  while (sent < 60) await new Promise(resolve => setImmediate(resolve))
  await killed.kill()
  sent = 400
  await Promise.all(senders)
  await using again = await startServerProcess({ dataDirectory })
  const list = async <Row>(path: string) =>
    (await again.call<Record<string, Row[]>>('GET', agent + path)).body
  const { contacts = [] } = await list<{ id: string }>('/contacts?limit=1000')
  const { entries = [] } = await list<AuditEntry>('/audit?limit=1000&operation=createContact')
  expect(contacts.length).toBeGreaterThan(30)
  expect(entries.map(({ object }) => object).toSorted()).toEqual(contacts.map(({ id }) => id).toSorted())
})
