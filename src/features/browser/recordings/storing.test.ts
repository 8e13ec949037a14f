import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { deleteRecordings } from './recordings.repository.ts'
import { RecordingStore } from './storing.ts'

let app: TestApp

beforeAll(async () => {
  app = await buildApp({ environment: { DEV_USER: 'dev@example.com' } })
})

afterAll(() => app.close())

it('a recording that is deleted while it is made leaves nothing behind and does not come again', async () => {
  const { transact, clock, log, agentDatabases } = app.service.infrastructure
  const limits = { ofSession: 1_000_000, ofAgent: 1_000_000 }
  const left = await agentDatabases.use('default', async agent => {
    const dependencies = { transact, clock, log, limits }
    const store = new RecordingStore(agent, 'default.evicted', dependencies, () => {})
    const keep = async (text: string) => {
      store.take(JSON.stringify([{ type: 5, data: text, timestamp: 1 }]))
      await store.flush()
    }
    const count = async () => {
      const pieces = agent.db.selectFrom('browser_recording_pieces').select('number').execute()
      const rows = agent.db.selectFrom('browser_recordings').select('session_id').execute()
      return [(await pieces).length, (await rows).length]
    }
    await keep('one')
    await keep('two')
    const before = await count()
    await deleteRecordings(agent.db, ['default.evicted'])
    await keep('three')
    await keep('four')
    return [before, await count()]
  })
  expect(left).toEqual([
    [2, 1],
    [0, 0],
  ])
})
