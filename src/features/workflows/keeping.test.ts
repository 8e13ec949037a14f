import { expect, it } from 'vitest'
import { testApp } from '#test/support/build-app.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { passTime } from '#test/support/pass-time.ts'
import { workflowCalls } from '#test/support/workflows.ts'

const minute = 60_000
const day = 24 * 60 * minute

async function setApp(environment: Record<string, string>) {
  const clock = manualClock()
  const app = await testApp({ clock, environment })
  const calls = workflowCalls(app)
  const nodes = { start: { type: 'trigger' }, each: { type: 'loop', items: '{{items}}' } }
  return {
    ...calls,
    pass: (milliseconds: number) => passTime(app, clock, milliseconds),
    create: (others: object = {}) => calls.create(nodes, ['start > each'], others),
    async wait() {
      const pause = { type: 'wait', seconds: 30 * 86_400 }
      const id = await calls.create({ start: { type: 'trigger' }, pause }, ['start > pause'])
      const { body } = await calls.execute({ workflow_id: id })
      await calls.waiting(body.execution_id, 'pause')
      return body.execution_id
    },
    good: async (id: string) => (await calls.run(id, { items: [] })).id,
    failed: async (id: string) => (await calls.run(id)).id,
    /** Which of them are still there. */
    async kept(...ids: string[]) {
      const found = await Promise.all(ids.map(async id => (await calls.get(id)).status === 200))
      return ids.filter((_, index) => found[index])
    },
  }
}

it('finished executions go when they are too old, even if nothing is executed then, and others stay', async () => {
  const app = await setApp({ EXECUTIONS_KEEP_DAYS: '3' })
  const id = await app.create()
  const [good, failed] = [await app.good(id), await app.failed(id)]
  const waiting = await app.wait()
  await app.pass(2 * minute)
  await app.pass(2 * day)
  const later = await app.good(id)
  expect(await app.kept(good, failed, later, waiting)).toEqual([good, failed, later, waiting])
  await app.pass(2 * minute)
  await app.pass(day)
  expect(await app.kept(good, failed, later, waiting)).toEqual([later, waiting])
  await app.pass(2 * day + minute)
  expect(await app.kept(later, waiting)).toEqual([waiting])
})

it('the latest are kept, so many as there may be', async () => {
  const app = await setApp({ EXECUTIONS_KEEP_COUNT: '3' })
  const id = await app.create()
  const ids: string[] = []
  for (let count = 0; count < 30; count += 1) {
    ids.push(await app.good(id))
    await app.pass(10)
  }
  expect(await app.kept(...ids)).toHaveLength(30)
  await app.pass(2 * minute)
  expect(await app.kept(...ids)).toEqual(ids.slice(-3))
})

it('a workflow keeps all of its executions, those that have failed, or none, once their ends could be read', async () => {
  const app = await setApp({})
  const [all, errors, none] = [
    await app.create(),
    await app.create({ keep: 'errors' }),
    await app.create({ keep: 'none' }),
  ]
  const ids: string[] = []
  for (const id of [all, errors, none]) ids.push(await app.good(id), await app.failed(id))
  expect(await app.kept(...ids)).toEqual(ids)
  await app.pass(2 * minute)
  expect(await app.kept(...ids)).toEqual([ids[0], ids[1], ids[3]])
})
