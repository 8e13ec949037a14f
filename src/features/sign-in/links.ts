import { hash, randomBytes } from 'node:crypto'
import { chown, mkdir, readdir, readFile, rename, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Kysely } from 'kysely'
import { signOutPerson } from '#features/access/people.service.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import type { PlatformTables } from '#storage/tables.ts'

const validMs = 15 * 60_000

/** Returns 256 random bits in base64url. */
export const newToken = () => randomBytes(32).toString('base64url')
/** Returns the stored form of a token. One round suffices because the token is too long to be guessed. */
export const hashOf = (token: string) => hash('sha256', token, 'hex')

interface SignInLink {
  email: string
  expires_at: string
}

/** Links of the operator, each of which signs in once. */
export interface SignInLinks {
  leave(tokenHash: string, link: SignInLink): Promise<unknown>
  /** Returns the link to one caller only, even with several processes. */
  redeem(tokenHash: string): Promise<SignInLink | undefined>
  /** Ends all sessions and personal keys of the address. */
  revoke(email: string): Promise<unknown>
}

interface FileLinks extends SignInLinks {
  /** Calls `signOut` with each address that the operator has revoked. */
  takeRevocations(signOut: (email: string) => Promise<void>): Promise<void>
}

const revocation = 'sign-out-'

/** Makes a link with the token in its fragment, which browsers do not send. */
export async function makeLink(
  links: SignInLinks,
  clock: Clock,
  address: string,
  email: string,
): Promise<string> {
  const token = newToken()
  await links.leave(hashOf(token), { email, expires_at: new Date(clock.now() + validMs).toISOString() })
  return `${address}/sign-in#token=${token}`
}

/** Stores links as files named by their hash, because another process locks the databases. Deleting a file redeems its link. */
export function createFileLinks(dataDirectory: string, clock: Clock): FileLinks {
  const folder = join(resolve(dataDirectory), 'sign-in-links')
  async function write(name: string, content: object): Promise<void> {
    await mkdir(folder, { mode: 0o700, recursive: true })
    const unfinished = join(folder, `.${name}`)
    await writeFile(unfinished, JSON.stringify(content), { mode: 0o600 })
    // An administrator's command must leave files that the service can read.
    const { uid, gid } = await stat(resolve(dataDirectory))
    if (process.getuid?.() === 0) for (const path of [folder, unfinished]) await chown(path, uid, gid)
    await rename(unfinished, join(folder, name))
  }

  const namesOf = async (isWanted: (name: string) => boolean) =>
    (await readdir(folder).catch(() => [])).filter(isWanted)

  return {
    async leave(tokenHash, link) {
      for (const name of await namesOf(name => !name.startsWith(revocation))) {
        const { mtimeMs } = await stat(join(folder, name)).catch(() => ({ mtimeMs: Infinity }))
        if (mtimeMs < Date.now() - validMs) await rm(join(folder, name), { force: true })
      }
      await write(tokenHash, link)
    },
    revoke: email => write(revocation + hashOf(email), { email }),
    async takeRevocations(signOut) {
      for (const name of await namesOf(name => name.startsWith(revocation))) {
        const path = join(folder, name)
        await signOut(JSON.parse(await readFile(path, 'utf8')).email)
        await rm(path, { force: true })
      }
    },
    async redeem(tokenHash) {
      const path = join(folder, tokenHash)
      const text = await readFile(path, 'utf8').catch(() => undefined)
      const isFirst =
        text !== undefined &&
        (await unlink(path).then(
          () => true,
          () => false,
        ))
      const link: SignInLink | undefined = isFirst ? JSON.parse(text) : undefined
      return link !== undefined && link.expires_at > timestamp(clock) ? link : undefined
    },
  }
}

/** Stores links as rows of the database that processes share. */
export function createStoredLinks(database: Kysely<PlatformTables>, clock: Clock): SignInLinks {
  const links = database.deleteFrom('sign_in_links')
  return {
    revoke: email => signOutPerson(database, email, clock),
    async leave(token_hash, link) {
      await links.where('expires_at', '<', timestamp(clock)).execute()
      await database
        .insertInto('sign_in_links')
        .values({ token_hash, ...link })
        .execute()
    },
    redeem: tokenHash =>
      links
        .where('token_hash', '=', tokenHash)
        .where('expires_at', '>', timestamp(clock))
        .returning(['email', 'expires_at'])
        .executeTakeFirst(),
  }
}
