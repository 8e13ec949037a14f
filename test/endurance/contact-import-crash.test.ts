import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { crashRounds, seededRandom } from '../support/endurance.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const rows = 3_000
const path = '/api/agents/default/contacts'

it(`kill -9 in the middle of an import: the same file again leaves everybody once (${crashRounds} times)`, async () => {
  const random = seededRandom(20_261_124)
  const dataDirectory = temporaryDirectory()
  let interrupted = 0
  let server = await startServerProcess({ dataDirectory })
  for (let round = 1; round <= crashRounds; round += 1) {
    const file = fileOf(round)
    const report = importFile(server, file).catch(() => undefined)
    const part = (round - 1 + random() * 0.8) * rows
    while ((await count(server)) <= part) await delay(1)
    await server.kill()
    const finished = await report
    server = await startServerProcess({ dataDirectory })
    const before = await count(server)
    if (finished === undefined && before < round * rows) interrupted += 1
    expect(await importFile(server, file)).toMatchObject({
      imported: round * rows - before,
      updated: before - (round - 1) * rows,
      skipped: 0,
    })
    expect(await count(server)).toBe(round * rows)
  }
  await server.kill()
  expect(interrupted).toBeGreaterThan(0)
})

/** A third of its people has no identifier, and some of these say the same. */
function fileOf(round: number): string {
  const lines = Array.from({ length: rows }, (_, n) => {
    const email = n % 3 === 0 ? '' : `person-${round}-${n}@example.com`
    return `Person ${round} ${n % 100},${email},note ${n % 200}`
  })
  return ['name,email,notes', ...lines].join('\n')
}

async function importFile({ url }: ServerProcess, content: string): Promise<unknown> {
  const body = new FormData()
  body.set('file', new File([content], 'people.csv'))
  const response = await fetch(`${url}${path}/import`, { method: 'POST', body })
  return await response.json()
}

async function count(server: ServerProcess): Promise<number> {
  const { body } = await server.call<{ meta: { total: number } }>('GET', `${path}?limit=1`)
  return body.meta.total
}
