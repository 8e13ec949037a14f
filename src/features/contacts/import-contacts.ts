import { once } from 'node:events'
import type { FileHandle } from 'node:fs/promises'
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import { type Clock, timestamp } from '#platform/clock.ts'
import { invalid } from '#platform/errors.ts'
import { parseJson } from '#platform/exact-json.ts'
import type { Ids } from '#platform/ids.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import { openTemporaryFile } from '#platform/temporary-file.ts'
import { createFairSlots } from '#platform/workers/fair-slots.ts'
import { WorkerCrashed, type WorkerPool, WorkerTimeout } from '#platform/workers/worker-pool.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { ContactEvents } from './contacts.events.ts'
import { insertContacts, updateContact } from './contacts.repository.ts'
import { type Contact, type ImportReport, listedErrors } from './contacts.schema.ts'
import { createSaid, type Plan, planImport, type Row, type Said } from './plan-import.ts'
import type { CsvFile } from './read-csv.ts'
import type { ReadRows, ReadTask } from './read-rows.worker.ts'

const worker = new URL('./read-rows.worker.ts', import.meta.url)
const readingTimeoutMs = 5 * 60_000
/** One import at a time for an agent, because it counts the contacts that exist before. */
const imports = { atOnce: 4, ofAgent: 1 }

interface Dependencies {
  transact: Transact<ContactEvents>
  /** Returns the country of the contacts' national numbers, ISO 3166 alpha-2. */
  countryOf(agentId: string): Promise<string | undefined>
  workers: WorkerPool
  clock: Clock
  ids: Ids
}

interface ImportOptions extends Pick<ReadTask, 'columns'> {
  isDryRun: boolean
  /** Aborts the import; stored contacts stay. */
  signal: AbortSignal
}

/** Imports the contacts of a CSV file; each row is counted as imported, updated or skipped. */
export function createContactImport({ transact, countryOf, workers, clock, ids }: Dependencies) {
  const slots = createFairSlots(imports.atOnce, imports.ofAgent)

  async function read(argument: Omit<ReadTask, 'lifeline'>, signal: AbortSignal): Promise<ReadRows> {
    // The thread holds the other end until it ends, even by force: until then, its descriptors stay taken.
    const { port1: end, port2: lifeline } = new MessageChannel()
    const ended = once(end, 'close')
    try {
      return await workers.run<ReadRows>({
        file: worker,
        name: 'readRows',
        argument: { ...argument, lifeline },
        transfer: [lifeline],
        signal,
        timeoutMs: readingTimeoutMs,
      })
    } catch (error) {
      if (!(error instanceof WorkerTimeout || error instanceof WorkerCrashed)) throw error
      throw invalid('file', 'takes too much time or memory to read; split it up')
    } finally {
      // This does nothing to a port that was sent.
      lifeline.close()
      await ended
    }
  }

  async function store(agent: AgentHandle, rows: readonly Row[], said: Said, isDryRun: boolean) {
    await said.learn(agent.db, rows)
    const options = { said, newId: ids.record, now: timestamp(clock) }
    if (isDryRun) return await planImport(agent.db, rows, options)
    return await transact(agent, async (transaction, outbox): Promise<Plan> => {
      const plan = await planImport(transaction, rows, options)
      await insertContacts(transaction, plan.added)
      for (const contact of plan.updated) await updateContact(transaction, contact)
      const eventOf = ({ id }: Contact) => ({ agent_id: agent.agentId, contact_id: id })
      await outbox.emit('contact.created', ...plan.added.map(eventOf))
      await outbox.emit('contact.updated', ...plan.updated.map(eventOf))
      return plan
    })
  }

  /** @throws VALIDATION_ERROR, with nothing stored, for an unreadable file or unknown columns. */
  return async function importContacts(
    agent: AgentHandle,
    file: CsvFile,
    { columns, isDryRun, signal }: ImportOptions,
  ): Promise<ImportReport> {
    const country = await countryOf(agent.agentId)
    await using held = new AsyncDisposableStack()
    held.defer(await slots.take(agent.agentId, signal))
    const target = held.adopt(await openTemporaryFile(), opened => opened.close())
    const { portions, skipped, errors } = await read({ file, target: target.fd, columns, country }, signal)
    const report: ImportReport = { imported: 0, updated: 0, skipped, errors, errors_total: skipped }
    const said = createSaid()
    for await (const rows of rowsIn(target, portions)) {
      signal.throwIfAborted()
      const plan = await store(agent, rows, said, isDryRun)
      said.add(plan.said)
      report.imported += plan.added.length
      report.updated += plan.updatedRows
      report.skipped += plan.errors.length
      if (report.errors.length < 2 * listedErrors) report.errors.push(...plan.errors)
      await yieldToOthers()
    }
    const inOrder = report.errors.toSorted((one, other) => one.line - other.line)
    return { ...report, errors: inOrder.slice(0, listedErrors), errors_total: report.skipped }
  }
}

export type ImportContacts = ReturnType<typeof createContactImport>

async function* rowsIn(file: FileHandle, portions: readonly number[]): AsyncGenerator<Row[]> {
  let position = 0
  for (const length of portions) {
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, position)
    position += length
    yield parseJson(String(buffer))
  }
}
