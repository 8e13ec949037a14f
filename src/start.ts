import { type Configuration, settleEnvironment, unknownVariables } from '#configuration/configuration.ts'
import { afterSignIn, hasSignedIn } from '#infrastructure/first-sign-in.ts'
import { systemClock } from '#platform/clock.ts'
import { randomIds } from '#platform/ids.ts'
import { createLog, type Log } from '#platform/logging/log.ts'
import { createWorkerPool } from '#platform/workers/worker-pool.ts'
import { buildService, type Service } from './app.ts'
import { type DataReader, readData } from './doctor/data.ts'
import { findInData } from './doctor/data-findings.ts'
import { strangers } from './doctor/describe.ts'
import { examine } from './doctor/examine.ts'
import type { Finding } from './doctor/finding.ts'

/**
 * Max connections that wait to be accepted, unless the system allows fewer. Further ones are dropped
 * silently, and their clients retry seconds later.
 */
const backlog = 4096

/**
 * Builds the service and listens; prints one line with the address once it is ready. If it can't, it releases the data
 * directory and throws an error with a sentence for the operator.
 * @param onBuilt is called before it listens: from then on it must be closed in order.
 */
export async function start(configuration: Configuration, onBuilt = (_: Service) => {}): Promise<Service> {
  settleEnvironment()
  const log = createLog(configuration.logLevel)
  for (const { name, meant } of unknownVariables())
    log.warn(`The environment variable ${name} is not read. Did you mean ${meant}?`)
  const service = await buildService(configuration, {
    clock: systemClock,
    ids: randomIds,
    log,
    createWorkerPool,
  })
  onBuilt(service)
  const { host, port, baseUrl, ownerEmail } = configuration
  const isClosed = await hasSignedIn(service.infrastructure.platform)
  const inForce = isClosed ? afterSignIn(configuration) : configuration
  log.info(strangers(inForce))
  warn(log, examine(inForce))
  const address = await listen(service, host, port)
  // A line that can't be written is no reason to stop, like for the log.
  process.stdout.on('error', () => {})
  const link = await service.firstLink(baseUrl ?? address)
  const firstSignIn = link && `Sign in as ${ownerEmail} within 15 minutes, in a browser: ${link}\n`
  process.stdout.write(`agentstead is ready at ${baseUrl ?? address}\n${firstSignIn ?? ''}`)
  // Runs once the service is ready: no caller waits for it.
  void warnOfData(service, inForce)
  return service
}

/** Logs the faults of agents that `npm run doctor` finds. */
async function warnOfData({ infrastructure }: Service, configuration: Configuration): Promise<void> {
  const { platform, agentDatabases, log } = infrastructure
  try {
    const withAgent: DataReader['withAgent'] = (id, work) => agentDatabases.use(id, ({ db }) => work(db))
    const data = await readData({ platform, withAgent }, configuration)
    warn(log, findInData(data, configuration))
  } catch (error) {
    // A service that ends during this closes its data.
    log.debug({ err: error }, 'the data were not examined')
  }
}

function warn(log: Log, findings: readonly Finding[]): void {
  for (const { problem, change } of findings) log.warn(`${problem} ${change}`)
}

async function listen(service: Service, host: string, port: number): Promise<string> {
  try {
    return await service.app.listen({ host, port, backlog })
  } catch (error) {
    await service.close()
    throw new Error(problemOf(error, host, port), { cause: error })
  }
}

function problemOf(error: unknown, host: string, port: number): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE')
    return `port ${port} of ${host} is in use by another program. Stop that program, or set PORT to another port.`
  if (code === 'EACCES') return `port ${port} is for privileged programs only. Set PORT to one above 1023.`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `${host} is not an address of this machine. Set HOST to one that is, such as 127.0.0.1.`
  return message
}
