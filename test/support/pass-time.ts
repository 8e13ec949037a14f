import type { TestApp } from './build-app.ts'
import type { ManualClock } from './manual-clock.ts'
import { queryDatabase } from './postgres/databases.ts'
import { storageEnvironment } from './postgres/environment.ts'

/** Lets time pass for an app, and for the server that wakes it up if its database has one; then waits for what is due. */
export async function passTime(app: TestApp, clock: ManualClock, milliseconds: number): Promise<void> {
  clock.advance(milliseconds)
  await moveWakeUps(app.dataDirectory, milliseconds)
  await app.service.infrastructure.runner.idle()
}

/** Brings forward what the server that wakes up apps has stored for later, where there is one. */
export async function moveWakeUps(dataDirectory: string, milliseconds: number): Promise<void> {
  const { DATABASE_URL: url } = await storageEnvironment(dataDirectory)
  if (url === undefined) return
  await queryDatabase(
    url,
    `update agentstead_wake_ups.job set start_after = start_after - interval '${milliseconds} milliseconds'`,
  )
}
