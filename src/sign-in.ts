/** `npm run sign-in -- <e-mail>`: prints a link that signs the person in once, while the service runs or not. */
import { existsSync } from 'node:fs'
import type { Configuration } from '#configuration/configuration.ts'
import { createFileLinks, createStoredLinks, makeLink } from '#features/sign-in/links.ts'
import { openStorage } from '#infrastructure/open-storage.ts'
import { systemClock } from '#platform/clock.ts'
import { emailAddress, inOneCase } from '#platform/email-address.ts'
import { createLog } from '#platform/logging/log.ts'
import { openPlatformDatabase } from '#storage/platform-database.ts'
import { configurationOrExit, exitBecause, misused } from './exit.ts'

/** An address that listens on all addresses of a machine is none that can be opened. */
function addressOf({ baseUrl, host, port }: Configuration): string {
  if (baseUrl !== undefined) return baseUrl
  const name = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

async function signIn(configuration: Configuration, email: string): Promise<string> {
  const address = addressOf(configuration)
  const { database, dataDirectory } = configuration
  if (database === undefined) {
    // The service may be holding its data, and notices a file.
    if (!existsSync(dataDirectory))
      throw new Error(
        `there is no data directory ${dataDirectory}. Start the service, or set DATA_DIR to its folder.`,
      )
    return await makeLink(createFileLinks(dataDirectory, systemClock), systemClock, address, email)
  }
  const { engine } = await openStorage(configuration, createLog('error'))
  try {
    await using platform = await openPlatformDatabase(engine)
    return await makeLink(createStoredLinks(platform, systemClock), systemClock, address, email)
  } finally {
    await engine.close()
  }
}

const [email = '', ...others] = process.argv.slice(2)
if (!emailAddress.test(email) || others.length > 0) {
  process.stderr.write('Usage: npm run sign-in -- you@example.com\n')
  process.exit(misused)
}
const link = await signIn(configurationOrExit(), inOneCase(email)).catch(error =>
  exitBecause('There is no link', error),
)
process.stdout.write(`${link}\nIt signs in ${inOneCase(email)}, once, within 15 minutes.\n`)
