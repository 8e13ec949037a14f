/** What entries that wait for a later time cost those that are due. */
import { expect, test } from 'vitest'
import { scaled } from '#test/support/endurance.ts'
import { setJobStage } from '#test/support/job-stage.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { threadTime } from '#test/support/processor-time.ts'
import { addWaiting } from '#test/support/waiting-entries.ts'

const waiting = scaled(100_000)
const jobs = 100
const rounds = 5

async function setStage() {
  const stage = await setJobStage({ note: async () => {} }, { clock: manualClock() })
  await stage.runner.start()
  return stage
}

async function runJobs(stage: Awaited<ReturnType<typeof setStage>>): Promise<void> {
  for (let job = 0; job < jobs; job += 1) {
    await stage.add('note')
    await stage.runner.idle()
  }
}

test('a job takes hardly more processor time beside many entries of its agent that wait', async () => {
  const [alone, beside] = [await setStage(), await setStage()]
  await addWaiting(beside.agentDatabases, waiting)
  for (const stage of [alone, beside]) await runJobs(stage)
  const times = { alone: Number.POSITIVE_INFINITY, beside: Number.POSITIVE_INFINITY }
  for (let round = 0; round < rounds; round += 1) {
    times.alone = Math.min(times.alone, await threadTime(() => runJobs(alone)))
    times.beside = Math.min(times.beside, await threadTime(() => runJobs(beside)))
  }
  expect(await beside.entries()).toHaveLength(waiting)
  expect(times.beside / times.alone).toBeLessThanOrEqual(1.5)
})
