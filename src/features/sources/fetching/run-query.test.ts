import { expect, it } from 'vitest'
import { AppError } from '#platform/errors.ts'
import { SqlBusy } from '#sandbox/sql/sql-busy.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { turnsDuring } from '#test/support/turns-during.ts'
import { encodeRows, runQuery } from './run-query.ts'

const decoded = async (selected: Parameters<typeof encodeRows>[0]) =>
  JSON.parse(new TextDecoder().decode(await encodeRows(selected)))

it.each([
  { columns: [], rows: [] },
  { columns: ['name', 'price'], rows: [['Äpfel', 0.5]] },
  { columns: ['note'], rows: [['"'], [null], [true], [{ base64: 'AA==' }]] },
])('%j is stored as it is', async selected => {
  expect(await decoded(selected)).toEqual(selected)
})

it('the largest answer is stored as it is, and others go on meanwhile', async () => {
  const rows = Array.from({ length: 10_000 }, (_, at) => [at, 'é'.repeat(400)])
  const selected = { columns: ['number', 'text'], rows }
  expect(await decoded(selected)).toEqual(selected)
  expect(await turnsDuring(encodeRows(selected))).toBeGreaterThanOrEqual(10)
})

const agent = {} as AgentHandle
const fetchFailingWith = (error: Error) =>
  runQuery(() => Promise.reject(error), agent, 'select 1', new AbortController().signal)

it('a query that fails tells why', async () => {
  const outcome = await fetchFailingWith(new AppError('SQL_FAILED', 'No such table.'))
  expect(outcome).toEqual({ kind: 'failed', reason: 'The query could not be run: No such table.' })
})

it('one that was not begun since too many wait is left to the next attempt', async () => {
  await expect(fetchFailingWith(new SqlBusy())).rejects.toThrow('Too many statements are waiting')
})
