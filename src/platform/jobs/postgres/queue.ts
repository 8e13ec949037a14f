import { type Db, PgBoss } from 'pg-boss'
import type { Log } from '../../logging/log.ts'
import { type ByLane, byLane, type Lane, lanes } from '../lanes.ts'

/** Connections to the platform's database: some for statements, one that listens. */
export type QueueDatabase = Required<Pick<Db, 'executeSql' | 'listen'>>

interface Dependencies {
  database: QueueDatabase
  log: Log
  /** Called when any process has stored a due wake-up; without a lane once a new connection listens. */
  onNews(lane?: string): void
}

export interface WakeUp {
  id: string
  agentId: string
}

interface LaterWakeUp extends WakeUp {
  /** A remark for people who look into the queue: there is work for it only if a process has died. */
  covers?: 'transactions'
}

/** The wake-ups of a lane of all processes, as jobs of pg-boss. */
export interface WakeUpQueue {
  /** Adds a wake-up that is due now, unless the agent has another one. */
  addDue(agentId: string): Promise<void>
  /** Adds a wake-up that is due in `wait` milliseconds, by the clock of the server. */
  addLater(wakeUp: LaterWakeUp, wait: number): Promise<void>
  /** Returns false if another process has already taken it. */
  move(id: string, wait: number): Promise<boolean>
  /** Takes a wake-up until `remove`, or until this process counts as dead. */
  take(): Promise<WakeUp | undefined>
  remove(ids: string[]): Promise<void>
  close(): Promise<void>
}

export const schema = 'agentstead_wake_ups'
const day = 86_400

/** Time after which a taken, unremoved wake-up returns, plus one interval each of supervision and polling. */
const takenForSeconds = 10
const superviseIntervalSeconds = 5

const queueOptions = {
  notify: true,
  expireInSeconds: takenForSeconds,
  retryDelay: 0,
  // A wake-up never fails permanently: this is the largest possible number.
  retryLimit: 2_147_483_647,
  // Time that it outlives its due time while no process runs; the longest possible.
  retentionSeconds: 365 * day,
  deleteAfterSeconds: 60,
}

/** Opens the queue of each lane, or creates it: any number of processes can do so concurrently. */
export async function openQueue(dependencies: Dependencies): Promise<ByLane<WakeUpQueue>> {
  for (let attempt = 1; ; attempt += 1) {
    const boss = createBoss(dependencies)
    const stop = () => boss.stop({ graceful: false })
    try {
      await boss.start()
      for (const lane of lanes) {
        await boss.createQueue(lane, { ...queueOptions, policy: 'short' })
        // A former version might have created it.
        await boss.updateQueue(lane, queueOptions)
      }
      const open = new Set<string>(lanes)
      return byLane(lane =>
        queueOf(boss, lane, async () => {
          if (open.delete(lane) && open.size === 0) await stop()
        }),
      )
    } catch (error) {
      await stop()
      if (!isDuplicate(error) || attempt === maxAttempts) throw error
    }
  }
}

/** Max attempts: each one finds parts that another process has created. */
const maxAttempts = 5
/** Codes of errors for existing objects (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const duplicateCodes = new Set(['23505', '42P06', '42P07', '42710', '42723'])

function isDuplicate(error: unknown): boolean {
  return error instanceof Error && 'code' in error && duplicateCodes.has(String(error.code))
}

function createBoss({ database, log, onNews }: Dependencies): PgBoss {
  const boss = new PgBoss({
    db: announcing(database, onNews),
    schema,
    useListenNotify: true,
    schedule: false,
    superviseIntervalSeconds,
    monitorIntervalSeconds: superviseIntervalSeconds,
    maintenanceIntervalSeconds: 600,
    monitorVacuum: false,
    // No wake-up depends on another one.
    flowIntervalSeconds: day,
  })
  boss.on('error', error => log.error({ err: error }, 'the queue of wake-ups has failed'))
  boss.on('warning', ({ message, data }) => log.warn({ data }, message))
  return boss
}

function queueOf(boss: PgBoss, name: Lane, close: () => Promise<void>): WakeUpQueue {
  return {
    async addDue(agentId) {
      await boss.send(name, { agentId }, { singletonKey: agentId })
    },
    async addLater({ id, ...data }, wait) {
      // Without a key all waiting ones would count as one.
      await boss.send(name, data, { id, singletonKey: id, startAfter: inSeconds(wait) })
    },
    async move(id, wait) {
      const { updated } = await boss.update(name, undefined, { id, startAfter: inSeconds(wait) })
      return updated > 0
    },
    async take() {
      const [job] = await boss.fetch<{ agentId: string }>(name)
      return job === undefined ? undefined : { id: job.id, agentId: job.data.agentId }
    },
    async remove(ids) {
      if (ids.length > 0) await boss.deleteJob(name, ids)
    },
    close,
  }
}

/** Returns the database for pg-boss: notifications for its workers, of which it has none, reach us. */
function announcing(database: QueueDatabase, onNews: Dependencies['onNews']): QueueDatabase {
  return {
    executeSql: (text, values) => database.executeSql(text, values),
    listen: (channel, onNotification, onReconnect) =>
      database.listen(
        channel,
        payload => {
          onNotification(payload)
          onNews(payload)
        },
        () => {
          onReconnect()
          onNews()
        },
      ),
  }
}

/** Returns an interval as text for PostgreSQL. */
function inSeconds(wait: number): string {
  return `${Math.max(0, wait) / 1_000} seconds`
}
