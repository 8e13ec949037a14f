import { isKey } from '#platform/encryption/encryption-key.ts'
import { group, isWebAddress, key, oneOf, optional, text, whole } from './variables.ts'

const bucketVariables = [
  'FILES_S3_ENDPOINT',
  'FILES_S3_BUCKET',
  'FILES_S3_ACCESS_KEY_ID',
  'FILES_S3_SECRET_ACCESS_KEY',
] as const

/** Settings for the place of the data, and the key of the credentials among them. */
export const storage = group({
  variables: {
    DATA_DIR: text('./data', 'a folder'),
    DATABASE_URL: optional('a postgres:// address with the name of a database', {
      secret: true,
      check: isDatabaseAddress,
    }),
    DATABASE_POOL_MAX: whole(10, 3, 1000),
    ENCRYPTION_KEY: optional('32 bytes in base64', { secret: true, check: isKey }),
    ENCRYPTION_KEY_PREVIOUS: optional('32 bytes in base64', { secret: true, check: isKey }),
    FILES_S3_ENDPOINT: optional('an http or https address of a server, without user name or query', {
      check: isServerAddress,
    }),
    FILES_S3_BUCKET: optional('the name of a bucket', {
      check: value => /^[A-Za-z0-9][A-Za-z0-9._-]{1,62}$/.test(value),
    }),
    FILES_S3_REGION: text('us-east-1', 'a region', { pattern: '^[A-Za-z0-9-]+$' }),
    FILES_S3_ACCESS_KEY_ID: key(),
    // The key signs requests and is in no header: a server can have one with blanks or umlauts.
    FILES_S3_SECRET_ACCESS_KEY: optional('a key', { secret: true }),
    ACCEPT_LOST_DATA: oneOf(['false', 'true'], 'false'),
    SQLITE_SYNCHRONOUS: oneOf(['normal', 'full'], 'normal'),
    LEASE_SECONDS: whole(30, 5, 50),
  },
  problems(environment) {
    const given = bucketVariables.filter(name => environment[name] !== undefined)
    return given.length > 0 && given.length < bucketVariables.length
      ? [`${bucketVariables.join(', ').replace(/, (?=\w+$)/, ' and ')} must be set together.`]
      : []
  },
  read(environment) {
    const { DATABASE_URL: url, DATABASE_POOL_MAX: maxConnections } = environment
    const { FILES_S3_ENDPOINT: endpoint, FILES_S3_BUCKET: bucket, FILES_S3_REGION: region } = environment
    const { FILES_S3_ACCESS_KEY_ID: accessKeyId, FILES_S3_SECRET_ACCESS_KEY: secretAccessKey } = environment
    return {
      dataDirectory: environment.DATA_DIR,
      /** Undefined for the embedded databases. */
      database: url === undefined ? undefined : { url, maxConnections },
      encryptionKey: environment.ENCRYPTION_KEY,
      encryptionKeyPrevious: environment.ENCRYPTION_KEY_PREVIOUS,
      /** Undefined if files are stored with the databases. */
      fileBucket:
        endpoint && bucket && accessKeyId && secretAccessKey
          ? { endpoint, bucket, region, accessKeyId, secretAccessKey }
          : undefined,
      /** True if lost databases are replaced by new ones. */
      acceptsLoss: environment.ACCEPT_LOST_DATA === 'true',
      sqliteSynchronous: environment.SQLITE_SYNCHRONOUS,
      /** A process without a sign of life for this time counts as dead: others take over its jobs and conversations. */
      leaseMs: environment.LEASE_SECONDS * 1000,
    }
  },
})

function isServerAddress(value: string): boolean {
  if (!isWebAddress(value)) return false
  const { username, password, search, hash } = new URL(value)
  return `${username}${password}${search}${hash}` === ''
}

function isDatabaseAddress(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, pathname } = new URL(value)
  return /^postgres(ql)?:$/.test(protocol) && pathname.length > 1
}
