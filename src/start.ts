import type { Configuration } from '#configuration/configuration.ts'
import { settleEnvironment, unknownVariables } from '#configuration/configuration.ts'
import { systemClock } from '#platform/clock.ts'
import { randomIds } from '#platform/ids.ts'
import { createLog } from '#platform/logging/log.ts'
import { isLoopback } from '#platform/network.ts'
import { createWorkerPool } from '#platform/workers/worker-pool.ts'
import type { Service } from './app.ts'
import { buildService } from './app.ts'

/**
 * Connections that may wait to be accepted, unless the system allows fewer. Those beyond are dropped silently, and their
 * clients try again seconds later.
 */
const backlog = 4096

/**
 * Builds the service and listens; prints one line with the address once it is ready. If it can't, it releases the data
 * directory and throws an error with a sentence for the operator.
 */
export async function start(configuration: Configuration): Promise<Service> {
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
  const { host, port, baseUrl, gateway, publicAccess } = configuration
  if (!isLoopback(host) && gateway === undefined && (publicAccess ?? 'full') === 'full')
    log.warn(
      'Everybody who reaches this address may change the agent "default": set up an identity gateway, or set PUBLIC_ACCESS to chat or read.',
    )
  const address = await listen(service, host, port)
  // A line that can't be written is no reason to stop, as it is none for the log.
  process.stdout.on('error', () => {})
  process.stdout.write(`agentstead is ready at ${baseUrl ?? address}\n`)
  return service
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
