import { isIP } from 'node:net'
import { isAbsolute } from 'node:path'
import { Ajv } from 'ajv'
import ipaddr from 'ipaddr.js'
import type { Static } from 'typebox'
import { Type } from 'typebox'
import { emailAddress, inOneCase } from '#platform/email-address.ts'
import { isKey } from '#platform/encryption/encryption-key.ts'
import { isLoopback } from '#platform/network.ts'
import { parseAllowEntry } from '#platform/outbound/address-policy.ts'
import { ofOwnSchemas } from '#platform/own-schemas.ts'

const providers = ['openai', 'anthropic', 'google', 'openai-compatible', 'builtin'] as const
const embeddingProviders = ['builtin', 'openai', 'openai-compatible', 'google', 'local'] as const
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** A setting without a default; `expects` ends the sentence "NAME must be …" of a problem report. */
function optional(expects: string, options: { secret?: boolean } = {}) {
  return Type.Optional(Type.String({ expects, ...options }))
}

/** Something else in it would only show when it is used, as an answer that no model gives. */
function key() {
  return Type.Optional(
    Type.String({
      expects: 'a key of printable ASCII characters without blanks',
      pattern: '^[\\x21-\\x7e]+$',
      secret: true,
    }),
  )
}

function whole(defaultValue: number, minimum: number, maximum: number) {
  const expects = `a whole number from ${minimum} to ${maximum}`
  return Type.Integer({ default: defaultValue, minimum, maximum, expects })
}

function oneOf<const Value extends string>(values: readonly Value[], defaultValue: Value) {
  return Type.Unsafe<Value>({ enum: values, default: defaultValue, expects: `one of ${values.join(', ')}` })
}

/** Every environment variable that the service reads. */
const environmentSchema = Type.Object({
  HOST: Type.String({ default: '127.0.0.1', expects: 'an IP address or a host name to listen on' }),
  PORT: whole(8080, 0, 65_535),
  BASE_URL: optional('an http or https address'),
  DATA_DIR: Type.String({ default: './data', expects: 'a folder' }),
  DATABASE_URL: optional('a postgres:// address with the name of a database', { secret: true }),
  DATABASE_POOL_MAX: whole(10, 3, 1000),
  ENCRYPTION_KEY: optional('32 bytes in base64', { secret: true }),
  ENCRYPTION_KEY_PREVIOUS: optional('32 bytes in base64', { secret: true }),
  GATEWAY_JWKS_URL: optional('an http or https address'),
  GATEWAY_AUDIENCE: optional('the audience that the gateway puts into its tokens'),
  GATEWAY_ISSUER: optional('the issuer that the gateway puts into its tokens'),
  GATEWAY_HEADER: Type.String({
    default: 'Edge-Access-JWT-Assertion',
    expects: 'a header name',
    pattern: '^[A-Za-z0-9-]+$',
  }),
  PUBLIC_ACCESS: oneOf(['full', 'chat', 'read'], 'full'),
  DEV_USER: optional('an e-mail address'),
  RATE_LIMIT_GENERAL: whole(100, 0, 1_000_000),
  RATE_LIMIT_CHAT: whole(20, 0, 1_000_000),
  RATE_LIMIT_BROWSER: whole(50, 0, 1_000_000),
  RATE_LIMIT_BULK: whole(10, 0, 1_000_000),
  TRUST_PROXY: optional('IP addresses or CIDR ranges, separated by commas'),
  OUTBOUND_ALLOW: optional('hosts, IP addresses or CIDR ranges, separated by commas'),
  OPENAI_API_KEY: key(),
  OPENAI_BASE_URL: optional('an http or https address without a query'),
  ANTHROPIC_API_KEY: key(),
  ANTHROPIC_BASE_URL: optional('an http or https address without a query'),
  GOOGLE_GENERATIVE_AI_API_KEY: key(),
  GOOGLE_BASE_URL: optional('an http or https address without a query'),
  OPENAI_COMPATIBLE_BASE_URL: optional('an http or https address'),
  OPENAI_COMPATIBLE_API_KEY: key(),
  DEFAULT_PROVIDER: Type.Optional(Type.Enum([...providers], { expects: `one of ${providers.join(', ')}` })),
  DEFAULT_MODEL: optional('a model id'),
  EMBEDDING_PROVIDER: oneOf(embeddingProviders, 'builtin'),
  EMBEDDING_MODEL: optional('a model id, or a folder'),
  CHAT_MAX_ITERATIONS: whole(8, 1, 100),
  CRAWL_MAX_PAGES: whole(50, 1, 100_000),
  CRAWL_MAX_DEPTH: whole(5, 0, 100),
  MAX_UPLOAD_BYTES: whole(26_214_400, 1, 2_147_483_647),
  FILES_S3_ENDPOINT: optional('an http or https address of a server, without user name or query'),
  FILES_S3_BUCKET: optional('the name of a bucket'),
  FILES_S3_REGION: Type.String({ default: 'us-east-1', expects: 'a region', pattern: '^[A-Za-z0-9-]+$' }),
  FILES_S3_ACCESS_KEY_ID: key(),
  // Requests are signed with it, so that no header carries it: a server may have one with blanks or umlauts.
  FILES_S3_SECRET_ACCESS_KEY: optional('a key', { secret: true }),
  ACCEPT_LOST_DATA: oneOf(['false', 'true'], 'false'),
  SQLITE_SYNCHRONOUS: oneOf(['normal', 'full'], 'normal'),
  LEASE_SECONDS: whole(30, 5, 50),
  LOG_LEVEL: oneOf(logLevels, 'info'),
})

type Environment = Static<typeof environmentSchema>
type VariableName = keyof Environment

/** What the process was told, checked and grouped by who needs it. Byte counts are bytes, limits are requests per minute. */
export type Configuration = ReturnType<typeof configurationFrom>

export type ConfigurationResult = { configuration: Configuration } | { problems: string[] }

/** Reads and checks the environment; reports every problem at once, as sentences that name the variable. */
export function readConfiguration(variables: NodeJS.ProcessEnv = process.env): ConfigurationResult {
  const environment: Record<string, unknown> = {}
  for (const name of Object.keys(environmentSchema.properties)) {
    const value = variables[name]?.trim()
    // An empty variable is what compose files and shells leave of an unset one.
    if (value !== undefined && value !== '') environment[name] = value
  }
  const problems = schemaProblems(environment)
  const checked = environment as unknown as Environment
  problems.push(...valueProblems(checked), ...combinationProblems(checked))
  return problems.length > 0 ? { problems } : { configuration: configurationFrom(checked) }
}

function schemaProblems(environment: Record<string, unknown>): string[] {
  const ajv = new Ajv({ allErrors: true, coerceTypes: true, useDefaults: true, ...ofOwnSchemas })
  const given = { ...environment }
  const validate = ajv.compile(environmentSchema)
  if (validate(environment)) return []
  const names = new Set((validate.errors ?? []).map(error => error.instancePath.slice(1)))
  return [...names].map(name => mustBe(name as VariableName, given[name]))
}

function mustBe(name: VariableName, value: unknown): string {
  const schema = environmentSchema.properties[name] as object as { expects: string; secret?: boolean }
  const got = schema.secret ? '' : `, not ${quoted(value)}`
  return `${name} must be ${schema.expects}${got}.`
}

/** An address may hold a password before its `@`. */
function quoted(value: unknown): string {
  return JSON.stringify(typeof value === 'string' ? value.replace(/\/\/[^/]*@/, '//***@') : value)
}

const addressVariables = [
  'BASE_URL',
  'GATEWAY_JWKS_URL',
  'OPENAI_BASE_URL',
  'ANTHROPIC_BASE_URL',
  'GOOGLE_BASE_URL',
  'OPENAI_COMPATIBLE_BASE_URL',
] as const

/** What asks these providers puts its paths behind the whole address. */
const providerAddresses = ['OPENAI_BASE_URL', 'ANTHROPIC_BASE_URL', 'GOOGLE_BASE_URL'] as const

const bucketVariables = [
  'FILES_S3_ENDPOINT',
  'FILES_S3_BUCKET',
  'FILES_S3_ACCESS_KEY_ID',
  'FILES_S3_SECRET_ACCESS_KEY',
] as const

function valueProblems(environment: Environment): string[] {
  const wrong: VariableName[] = [
    ...(isHost(environment.HOST) ? [] : (['HOST'] as const)),
    ...addressVariables.filter(name => environment[name] !== undefined && !isWebAddress(environment[name])),
    ...providerAddresses.filter(name => isWebAddress(environment[name]) && environment[name]?.includes('?')),
    ...(['ENCRYPTION_KEY', 'ENCRYPTION_KEY_PREVIOUS'] as const).filter(name => {
      const key = environment[name]
      return key !== undefined && !isKey(key)
    }),
    ...(environment.DEV_USER !== undefined && !emailAddress.test(environment.DEV_USER)
      ? (['DEV_USER'] as const)
      : []),
    ...(isDatabaseAddress(environment.DATABASE_URL) ? [] : (['DATABASE_URL'] as const)),
    ...bucketProblems(environment),
    ...(listOf(environment.TRUST_PROXY).every(isAddressRange) ? [] : (['TRUST_PROXY'] as const)),
  ]
  return [...wrong.map(name => mustBe(name, environment[name])), ...allowProblems(environment)]
}

function allowProblems(environment: Environment): string[] {
  return listOf(environment.OUTBOUND_ALLOW).flatMap(text => {
    const entry = parseAllowEntry(text)
    return entry.kind === 'invalid' ? [`OUTBOUND_ALLOW: ${entry.problem}`] : []
  })
}

function bucketProblems(environment: Environment): VariableName[] {
  const { FILES_S3_ENDPOINT: endpoint, FILES_S3_BUCKET: bucket } = environment
  const isEndpoint = endpoint === undefined || isServerAddress(endpoint)
  const isBucket = bucket === undefined || /^[A-Za-z0-9][A-Za-z0-9._-]{1,62}$/.test(bucket)
  return [
    ...(isEndpoint ? [] : (['FILES_S3_ENDPOINT'] as const)),
    ...(isBucket ? [] : (['FILES_S3_BUCKET'] as const)),
  ]
}

function combinationProblems(environment: Environment): string[] {
  const problems: string[] = []
  const { GATEWAY_JWKS_URL: jwksUrl, GATEWAY_AUDIENCE: audience, GATEWAY_ISSUER: issuer } = environment
  const gateway = [jwksUrl, audience, issuer].some(value => value !== undefined)
  // An issuer alone is no gateway either: whoever sets it believes that there is one.
  if (gateway && (jwksUrl === undefined || audience === undefined))
    problems.push(
      'GATEWAY_JWKS_URL and GATEWAY_AUDIENCE must be set together, GATEWAY_ISSUER only beside them.',
    )
  if (environment.DEV_USER !== undefined && gateway)
    problems.push('DEV_USER must not be set while the identity gateway is on: it would let everybody in.')
  if (environment.DEV_USER !== undefined && !isLoopback(environment.HOST))
    problems.push(`DEV_USER must not be set while HOST (${environment.HOST}) is not a loopback address.`)
  const given = bucketVariables.filter(name => environment[name] !== undefined)
  if (given.length > 0 && given.length < bucketVariables.length)
    problems.push(`${bucketVariables.join(', ').replace(/, (?=\w+$)/, ' and ')} must be set together.`)
  if (environment.EMBEDDING_PROVIDER === 'openai-compatible' && environment.EMBEDDING_MODEL === undefined)
    problems.push('EMBEDDING_MODEL must be set when EMBEDDING_PROVIDER is openai-compatible.')
  if (environment.EMBEDDING_PROVIDER === 'local' && !isAbsolute(environment.EMBEDDING_MODEL ?? ''))
    problems.push(
      "EMBEDDING_MODEL must be the absolute path of the model's folder when EMBEDDING_PROVIDER is local.",
    )
  return problems
}

function configurationFrom(environment: Environment) {
  const { GATEWAY_JWKS_URL: jwksUrl, GATEWAY_AUDIENCE: audience } = environment
  return {
    host: environment.HOST,
    port: environment.PORT,
    baseUrl: environment.BASE_URL?.replace(/\/+$/, ''),
    dataDirectory: environment.DATA_DIR,
    /** Undefined for the embedded databases. */
    database:
      environment.DATABASE_URL === undefined
        ? undefined
        : { url: environment.DATABASE_URL, maxConnections: environment.DATABASE_POOL_MAX },
    encryptionKey: environment.ENCRYPTION_KEY,
    encryptionKeyPrevious: environment.ENCRYPTION_KEY_PREVIOUS,
    gateway:
      jwksUrl === undefined || audience === undefined
        ? undefined
        : { jwksUrl, audience, issuer: environment.GATEWAY_ISSUER, header: environment.GATEWAY_HEADER },
    publicAccess: environment.PUBLIC_ACCESS,
    devUser: environment.DEV_USER === undefined ? undefined : inOneCase(environment.DEV_USER),
    rateLimits: {
      general: environment.RATE_LIMIT_GENERAL,
      chat: environment.RATE_LIMIT_CHAT,
      browser: environment.RATE_LIMIT_BROWSER,
      bulk: environment.RATE_LIMIT_BULK,
    },
    trustProxy: listOf(environment.TRUST_PROXY),
    outboundAllow: listOf(environment.OUTBOUND_ALLOW),
    models: modelsFrom(environment),
    chatMaxIterations: environment.CHAT_MAX_ITERATIONS,
    crawlBounds: { maxPages: environment.CRAWL_MAX_PAGES, maxDepth: environment.CRAWL_MAX_DEPTH },
    maxUploadBytes: environment.MAX_UPLOAD_BYTES,
    fileBucket: fileBucketFrom(environment),
    /** Whether databases that were lost are replaced by new ones. */
    acceptsLoss: environment.ACCEPT_LOST_DATA === 'true',
    sqliteSynchronous: environment.SQLITE_SYNCHRONOUS,
    /** A process that gives no sign for so long counts as dead: others take over its jobs and conversations. */
    leaseMs: environment.LEASE_SECONDS * 1000,
    logLevel: environment.LOG_LEVEL,
  }
}

/** Undefined where files stay with the databases. */
function fileBucketFrom(environment: Environment) {
  const { FILES_S3_ENDPOINT: endpoint, FILES_S3_BUCKET: bucket, FILES_S3_REGION: region } = environment
  const { FILES_S3_ACCESS_KEY_ID: accessKeyId, FILES_S3_SECRET_ACCESS_KEY: secretAccessKey } = environment
  return endpoint && bucket && accessKeyId && secretAccessKey
    ? { endpoint, bucket, region, accessKeyId, secretAccessKey }
    : undefined
}

function modelsFrom(environment: Environment) {
  return {
    openai: credential(environment.OPENAI_API_KEY, environment.OPENAI_BASE_URL),
    anthropic: credential(environment.ANTHROPIC_API_KEY, environment.ANTHROPIC_BASE_URL),
    google: credential(environment.GOOGLE_GENERATIVE_AI_API_KEY, environment.GOOGLE_BASE_URL),
    openaiCompatible:
      environment.OPENAI_COMPATIBLE_BASE_URL === undefined
        ? undefined
        : { baseUrl: environment.OPENAI_COMPATIBLE_BASE_URL, apiKey: environment.OPENAI_COMPATIBLE_API_KEY },
    defaultProvider: environment.DEFAULT_PROVIDER,
    defaultModel: environment.DEFAULT_MODEL,
    embeddingProvider: environment.EMBEDDING_PROVIDER,
    embeddingModel: environment.EMBEDDING_MODEL,
  }
}

function credential(apiKey: string | undefined, baseUrl: string | undefined) {
  return { apiKey, baseUrl }
}

function listOf(value: string | undefined): string[] {
  return (value ?? '')
    .split(',')
    .map(entry => entry.trim())
    .filter(entry => entry !== '')
}

/** Whether the name is one of this machine shows when it listens. */
function isHost(value: string): boolean {
  return isIP(value) !== 0 || /^[\w-]+(?:\.[\w-]+)*\.?$/.test(value)
}

function isWebAddress(value: string | undefined): boolean {
  return value !== undefined && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
}

function isServerAddress(value: string): boolean {
  if (!isWebAddress(value)) return false
  const { username, password, search, hash } = new URL(value)
  return `${username}${password}${search}${hash}` === ''
}

function isDatabaseAddress(value: string | undefined): boolean {
  if (value === undefined) return true
  return (
    URL.canParse(value) &&
    /^postgres(ql)?:$/.test(new URL(value).protocol) &&
    new URL(value).pathname.length > 1
  )
}

/** Short spellings count as none: by `1` nobody means the address 0.0.0.1, but a number of proxies, which is not known here. */
function isAddressRange(value: string): boolean {
  const [base = '', ...length] = value.split('/')
  return isIP(base) !== 0 && (length.length === 0 || ipaddr.isValidCIDR(value))
}
