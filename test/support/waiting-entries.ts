import type { AgentDatabases } from '#storage/agent-databases.ts'

const rowsAtOnce = 1_000
const at = '2026-01-01T00:00:00.000Z'

/** Gives agent `a` so many entries, in thousands, that wait for a time or their next attempt, and some that have failed. */
export async function addWaiting(agentDatabases: AgentDatabases, count: number): Promise<void> {
  const entry = { name: 'note', lane: 'documents' as const, payload: 'null', created_at: at }
  await agentDatabases.use('a', async ({ db }) => {
    for (let first = 0; first < count; first += rowsAtOnce) {
      const numbers = Array.from({ length: rowsAtOnce }, (_, index) => first + index)
      const rows = numbers.map(number => ({
        ...entry,
        id: `waiting ${number}`,
        key: `key ${number}`,
        run_at: new Date(Date.parse(at) + 86_400_000 + number).toISOString(),
        attempts: number % 2,
        failures: number % 2,
        failed_at: number % 10 === 0 ? at : null,
      }))
      await db.insertInto('outbox').values(rows).execute()
    }
  })
}
