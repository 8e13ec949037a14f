import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Configuration } from '#configuration/configuration.ts'
import { createLocalEmbeddings } from '#models/embeddings/local/local-embeddings.ts'
import { createModels } from '#models/models.ts'
import { ChangeFeed } from '#platform/change-feed.ts'
import type { Disk } from '#platform/disk.ts'
import { type KeySource, loadKey } from '#platform/encryption/encryption-key.ts'
import { createSecretBox } from '#platform/encryption/secret-box.ts'
import { createEnding } from '#platform/ending.ts'
import { createEventBus } from '#platform/event-bus.ts'
import type { JobHandler } from '#platform/jobs/jobs.ts'
import type { ByLane } from '#platform/jobs/lanes.ts'
import { createJobRunner } from '#platform/jobs/runner.ts'
import { createEnsureJobs, createTransact } from '#platform/jobs/transact.ts'
import type { WakeUps } from '#platform/jobs/wake-ups.ts'
import { createMetrics } from '#platform/metrics.ts'
import { createOutbound, type Outbound } from '#platform/outbound/outbound.ts'
import { userAgent } from '#platform/user-agent.ts'
import type { WorkerPool } from '#platform/workers/worker-pool.ts'
import { createSandbox } from '#sandbox/javascript/sandbox.ts'
import type { SqlRunner } from '#sandbox/sql/sql-runner.ts'
import { type AgentDatabases, type AgentHandle, createAgentDatabases } from '#storage/agent-databases.ts'
import { createAgentSecrets } from '#storage/encryption/agent-secrets.ts'
import { checkEncryptionKey, finishRotation, readKeyCheck } from '#storage/encryption/check-encryption-key.ts'
import { openPlatformDatabase } from '#storage/platform-database.ts'
import { createSharedCounts } from '#storage/shared-counts.ts'
import type { PlatformTables } from '#storage/tables.ts'
import { requireCompleteTransfer } from '#storage/transfer/marker.ts'
import { wakeLostWork } from '#storage/wake-lost-work.ts'
import manifest from '../../package.json' with { type: 'json' }
import type { Environment } from './environment.ts'
import { openStorage } from './open-storage.ts'

/** Threads for searches stay ready between turns, so that the first words of an answer need not wait. */
const searchThreadIdleMs = 10 * 60_000

/** Limits for a model, which takes long to load, and whose dictionary takes much memory. */
const forModels = { memoryLimitMb: 2048, idleTimeoutMs: 60 * 60_000 }

export type Infrastructure = Awaited<ReturnType<typeof openInfrastructure>>

/**
 * Opens the base of all features: storage, jobs, workers, models and outbound. Throws AppError if it can't.
 */
export async function openInfrastructure(configuration: Configuration, environment: Environment) {
  const { clock, log } = environment
  const instanceId = randomUUID()
  const changes = new ChangeFeed({ clock, instanceId })
  const storage = await openStorage(configuration, log, changes)
  const { engine, encryptionKeyFile: path } = storage
  let wakeUps: ByLane<WakeUps> | undefined
  try {
    const platform = await openPlatformDatabase(engine)
    await requireCompleteTransfer(platform)
    await storage.prepare(platform)
    const secretBox = await openSecretBox(platform, { configured: configuration.encryptionKey, path, log })
    wakeUps = await storage.createWakeUps(platform, clock)
    const onOpen = [...storage.onOpen(instanceId), wakeLostWork(wakeUps)]
    const agentDatabases = createAgentDatabases({ engine, platform, log, onOpen })
    const { disk } = engine
    const jobs = createJobs({ configuration, environment, wakeUps, agentDatabases, instanceId, disk })
    const outbound = createOutbound({ allow: configuration.outboundAllow, userAgent })
    const { close: closeWorkers, ...workers } = createWorkers(
      environment,
      outbound,
      storage.createSqlRunner(secretBox),
    )
    const models = createModels({
      configuration: configuration.models,
      local: localEmbeddings(configuration.models, workers.embeddingWorkers),
      outboundFetch: outbound.fetchFunction(),
      trustedFetch: fetch,
      clock,
      log,
    })
    return {
      ...environment,
      configuration,
      /** Version of this program for other services. */
      version: manifest.version,
      models,
      metrics: createMetrics(),
      /** True if no other process uses the same data. */
      isExclusive: engine.isExclusive,
      disk,
      platform,
      secretBox,
      agentSecrets: createAgentSecrets(platform, secretBox),
      instanceId,
      /** The changes for clients that follow an agent. */
      changes,
      agentDatabases,
      ...jobs,
      /** Shared counts; undefined if this is the only process. */
      sharedCounts: engine.isExclusive ? undefined : createSharedCounts(platform, clock),
      outbound,
      ...workers,
      /** Call it after requests and jobs have ended. */
      async close(): Promise<void> {
        const { attempt, finish } = createEnding(log)
        await Promise.all([attempt(outbound.close), attempt(closeWorkers)])
        await attempt(() => agentDatabases.close())
        await attempt(() => platform.destroy())
        await attempt(() => engine.close())
        finish()
      },
    }
  } catch (error) {
    const { attempt } = createEnding(log)
    for (const lane of Object.values(wakeUps ?? {})) await attempt(() => lane.stop())
    await attempt(() => engine.close())
    throw error
  }
}

interface JobDependencies {
  configuration: Configuration
  environment: Environment
  wakeUps: ByLane<WakeUps>
  agentDatabases: AgentDatabases
  instanceId: string
  disk: Disk
}

/** Creates durable jobs and the process's events; features add their handlers before the runner starts. */
function createJobs({ configuration, environment, ...dependencies }: JobDependencies) {
  const { clock, ids, log } = environment
  const events = createEventBus<Record<string, unknown>>()
  const handlers = new Map<string, JobHandler<AgentHandle>>()
  const { leaseMs } = configuration
  const runner = createJobRunner({ ...dependencies, handlers, clock, log, leaseMs })
  const abort = runner.abort.bind(runner)
  const outboxNeeds = { wakeUps: dependencies.wakeUps, clock, ids, log, handlers, abort }
  const transact = createTransact(outboxNeeds)
  const ensureJobs = createEnsureJobs(outboxNeeds)
  return { events, handlers, runner, transact, ensureJobs, wakeUps: dependencies.wakeUps }
}

/** Returns the operator's own embedding model, if one is configured; loaded on first use. */
function localEmbeddings(
  { embeddingProvider, embeddingModel: folder }: Configuration['models'],
  workers: WorkerPool,
) {
  if (embeddingProvider !== 'local' || folder === undefined) return undefined
  return createLocalEmbeddings({ workers, folder })
}

/** Opens the box of the data's credentials. Throws AppError if the key is missing, or not the right one. */
async function openSecretBox(platform: Kysely<PlatformTables>, source: Omit<KeySource, 'isNewData'>) {
  await finishRotation(platform, source.path, source.log)
  const isNewData = (await readKeyCheck(platform)) === undefined
  const secretBox = createSecretBox(await loadKey({ ...source, isNewData }))
  await checkEncryptionKey(platform, secretBox)
  return secretBox
}

/** Creates threads for documents and searches, and sandboxes for others' JavaScript and SQL. */
function createWorkers({ log, createWorkerPool }: Environment, outbound: Outbound, sqlRunner: SqlRunner) {
  const documentWorkers = createWorkerPool({ log, isBackground: true })
  const searchWorkers = createWorkerPool({ log, idleTimeoutMs: searchThreadIdleMs })
  const embeddingWorkers = createWorkerPool({ log, maxThreads: 1, ...forModels })
  const browserWorkers = createWorkerPool({ log })
  const sandbox = createSandbox({ log, fetch: outbound.fetch })
  const workers = {
    documentWorkers,
    searchWorkers,
    embeddingWorkers,
    browserWorkers,
    sandbox,
    sqlRunner,
  }
  return {
    ...workers,
    async close(): Promise<void> {
      await Promise.all(Object.values(workers).map(part => part.close()))
    },
  }
}
