/**
 * `npm run sign-in -- <e-mail>` prints a link that signs the person in once, `--revoke <e-mail>` ends their sessions and personal
 * keys. It works while the service runs or not.
 */
import { existsSync } from 'node:fs'
import type { Configuration } from '#configuration/configuration.ts'
import { createFileLinks, createStoredLinks, makeLink, type SignInLinks } from '#features/sign-in/links.ts'
import { openStorage } from '#infrastructure/open-storage.ts'
import { systemClock } from '#platform/clock.ts'
import { emailAddress, inOneCase } from '#platform/email-address.ts'
import { createLog } from '#platform/logging/log.ts'
import { openPlatformDatabase } from '#storage/platform-database.ts'
import { configurationOrExit, exitBecause, misused } from './exit.ts'

/** An address that listens on all addresses of a machine can't be opened. */
function addressOf({ baseUrl, host, port }: Configuration): string {
  if (baseUrl !== undefined) return baseUrl
  const name = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

async function withLinks(configuration: Configuration, work: (links: SignInLinks) => Promise<string>) {
  const { database, dataDirectory } = configuration
  if (database === undefined) {
    // The service might be holding its data, but notices a file.
    if (!existsSync(dataDirectory))
      throw new Error(
        `there is no data directory ${dataDirectory}. Start the service, or set DATA_DIR to its folder.`,
      )
    return await work(createFileLinks(dataDirectory, systemClock))
  }
  const { engine } = await openStorage(configuration, createLog('error'))
  try {
    await using platform = await openPlatformDatabase(engine)
    return await work(createStoredLinks(platform, systemClock))
  } finally {
    await engine.close()
  }
}

const isRevoking = process.argv[2] === '--revoke'
const [given = '', ...others] = process.argv.slice(isRevoking ? 3 : 2)
if (!emailAddress.test(given) || others.length > 0) {
  process.stderr.write(
    'Usage: npm run sign-in -- you@example.com\n       npm run sign-in -- --revoke you@example.com\n',
  )
  process.exit(misused)
}
const email = inOneCase(given)
const configuration = configurationOrExit()

async function signIn(links: SignInLinks): Promise<string> {
  const link = await makeLink(links, systemClock, addressOf(configuration), email)
  return `${link}\nIt signs in ${email}, once, within 15 minutes.\n`
}

async function revoke(links: SignInLinks): Promise<string> {
  await links.revoke(email)
  return `The sessions and personal keys of ${email} end within five seconds, or when the service starts. The roles stay.\n`
}

const said = await withLinks(configuration, isRevoking ? revoke : signIn).catch(error =>
  exitBecause(isRevoking ? 'Nothing was ended' : 'There is no link', error),
)
process.stdout.write(said)
