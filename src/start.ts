import { systemClock } from '#platform/clock.ts'
import { randomIds } from '#platform/ids.ts'
import { createLog } from '#platform/log.ts'
import { isLoopback } from '#platform/network.ts'
import type { Service } from './app.ts'
import { buildService } from './app.ts'
import type { Configuration } from './config.ts'

/** Builds the service and listens; prints one line with the address once it is ready. */
export async function start(configuration: Configuration): Promise<Service> {
  const log = createLog(configuration.logLevel)
  const service = await buildService(configuration, { clock: systemClock, ids: randomIds, log })
  const { host, port, baseUrl, gateway, publicAccess } = configuration
  if (!isLoopback(host) && gateway === undefined && publicAccess === 'full')
    log.warn(
      'Everybody who reaches this address may change the agent "default": set up an identity gateway, or set PUBLIC_ACCESS to chat or read.',
    )
  const address = await service.app.listen({ host, port })
  process.stdout.write(`agentstead is ready at ${baseUrl ?? address}\n`)
  return service
}
