import type { Clock } from '#platform/clock.ts'
import type { LagMeasurement } from '#platform/event-loop/measure-lag.ts'
import type { Ids } from '#platform/ids.ts'
import type { Log } from '#platform/logging/log.ts'
import type { CreateWorkerPool } from '#platform/workers/worker-pool.ts'

/** The parts of a service that tests replace. */
export interface Environment {
  clock: Clock
  ids: Ids
  log: Log
  createWorkerPool: CreateWorkerPool
  startLag?: () => LagMeasurement
  /** The folder of the built web console. */
  consoleFolder?: string
}
