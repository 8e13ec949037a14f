import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type Configuration, readConfiguration } from './configuration.ts'

function configured(variables: Record<string, string>): Configuration {
  const result = readConfiguration(variables)
  if ('problems' in result) throw new Error(result.problems.join('\n'))
  return result.configuration
}

function problemsOf(variables: Record<string, string>): string[] {
  const result = readConfiguration(variables)
  return 'problems' in result ? result.problems : []
}

const key = randomBytes(32).toString('base64')

describe('without any variable', () => {
  it('every setting has its default', () => {
    expect(configured({})).toEqual({
      host: '127.0.0.1',
      port: 8080,
      baseUrl: undefined,
      dataDirectory: './data',
      database: undefined,
      encryptionKey: undefined,
      encryptionKeyPrevious: undefined,
      gateway: undefined,
      auditKeepDays: 365,
      ownerEmail: 'owner@localhost',
      oidc: undefined,
      signInAllow: [],
      agentsBy: 'proved',
      publicAccess: undefined,
      devUser: undefined,
      rateLimits: { general: 100, chat: 20, browser: 50, bulk: 10 },
      trustProxy: [],
      outboundAllow: [],
      modelPrices: {},
      houseLimits: {
        all: { monthly_tokens: undefined, monthly_usd: undefined },
        person: { monthly_tokens: undefined, monthly_usd: undefined },
      },
      models: {
        openai: { apiKey: undefined, baseUrl: undefined },
        anthropic: { apiKey: undefined, baseUrl: undefined },
        google: { apiKey: undefined, baseUrl: undefined },
        openaiCompatible: undefined,
        defaultProvider: undefined,
        defaultModel: undefined,
        embeddingProvider: 'builtin',
        embeddingModel: undefined,
      },
      chatMaxIterations: 8,
      maxConversations: 5000,
      crawlBounds: { maxPages: 50, maxDepth: 5 },
      maxUploadBytes: 26_214_400,
      channels: {
        mail: undefined,
        telegramBase: 'https://api.telegram.org',
        whatsappBase: 'https://graph.facebook.com/v23.0',
      },
      browser: { chromiumPath: undefined, display: undefined, maxSessionsPerAgent: 25, maxSessions: 50 },
      payments: {
        apiKey: undefined,
        apiBase: new URL('https://api.stripe.com/'),
        webhookSecret: undefined,
        facilitatorUrl: undefined,
        payTo: undefined,
      },
      executionsKept: { days: 14, count: 10_000 },
      fileBucket: undefined,
      acceptsLoss: false,
      sqliteSynchronous: 'normal',
      leaseMs: 30_000,
      logLevel: 'info',
    })
  })

  it('an empty variable, or one of spaces, is one that is not set', () => {
    expect(configured({ PORT: '', BASE_URL: '  ', DEV_USER: '', ENCRYPTION_KEY: '' })).toEqual(configured({}))
  })
})

const gateway = { GATEWAY_JWKS_URL: 'https://keys.example/certs', GATEWAY_AUDIENCE: 'tag' }
const fileBucket = {
  endpoint: 'https://s3.example',
  bucket: 'uploads',
  accessKeyId: 'name-of-a-key',
  secretAccessKey: 'key',
}
const bucket = {
  FILES_S3_ENDPOINT: fileBucket.endpoint,
  FILES_S3_BUCKET: fileBucket.bucket,
  FILES_S3_ACCESS_KEY_ID: fileBucket.accessKeyId,
  FILES_S3_SECRET_ACCESS_KEY: fileBucket.secretAccessKey,
}

describe('each variable', () => {
  it.each<[variables: Record<string, string>, expected: object]>([
    [{ HOST: '0.0.0.0' }, { host: '0.0.0.0' }],
    [{ HOST: '::' }, { host: '::' }],
    [{ HOST: '::1' }, { host: '::1' }],
    [{ HOST: 'localhost' }, { host: 'localhost' }],
    [{ HOST: 'my_machine-1.example' }, { host: 'my_machine-1.example' }],
    [{ PORT: ' 9090 ' }, { port: 9090 }],
    [{ PORT: '0' }, { port: 0 }],
    [{ BASE_URL: 'https://agents.example/below//' }, { baseUrl: 'https://agents.example/below' }],
    [{ DATA_DIR: '/srv/data' }, { dataDirectory: '/srv/data' }],
    [{ ENCRYPTION_KEY: key }, { encryptionKey: key }],
    [{ ENCRYPTION_KEY_PREVIOUS: key }, { encryptionKeyPrevious: key }],
    [
      gateway,
      {
        gateway: {
          jwksUrl: 'https://keys.example/certs',
          audience: 'tag',
          issuer: undefined,
          header: 'Edge-Access-JWT-Assertion',
        },
      },
    ],
    [
      { ...gateway, GATEWAY_ISSUER: 'https://gate.example', GATEWAY_HEADER: 'X-Token' },
      {
        gateway: {
          jwksUrl: 'https://keys.example/certs',
          audience: 'tag',
          issuer: 'https://gate.example',
          header: 'X-Token',
        },
      },
    ],
    [{ PUBLIC_ACCESS: 'chat' }, { publicAccess: 'chat' }],
    [{ AGENTS_BY: 'anyone' }, { agentsBy: 'anyone' }],
    [{ AGENTS_BY: 'owners' }, { agentsBy: 'owners' }],
    [{ AGENTS_BY: 'Ada@example.com, @example.org' }, { agentsBy: ['ada@example.com', '@example.org'] }],
    [{ PUBLIC_ACCESS: 'full' }, { publicAccess: 'full' }],
    [{ DEV_USER: 'Me@Example.com' }, { devUser: 'me@example.com' }],
    [
      { RATE_LIMIT_GENERAL: '1', RATE_LIMIT_CHAT: '2', RATE_LIMIT_BROWSER: '3', RATE_LIMIT_BULK: '0' },
      { rateLimits: { general: 1, chat: 2, browser: 3, bulk: 0 } },
    ],
    [{ TRUST_PROXY: '10.0.0.1, fd00::/8' }, { trustProxy: ['10.0.0.1', 'fd00::/8'] }],
    [{ OUTBOUND_ALLOW: 'files.internal,,10.0.0.0/8' }, { outboundAllow: ['files.internal', '10.0.0.0/8'] }],
    [{ CHAT_MAX_ITERATIONS: '100' }, { chatMaxIterations: 100 }],
    [{ MAX_UPLOAD_BYTES: '1' }, { maxUploadBytes: 1 }],
    [bucket, { fileBucket: { ...fileBucket, region: 'us-east-1' } }],
    [
      { ...bucket, FILES_S3_REGION: 'eu-central-1' },
      { fileBucket: { ...fileBucket, region: 'eu-central-1' } },
    ],
    [{ SQLITE_SYNCHRONOUS: 'full' }, { sqliteSynchronous: 'full' }],
    [{ LOG_LEVEL: 'warn' }, { logLevel: 'warn' }],
  ])('is read: %j', (variables, expected) => {
    expect(configured(variables)).toEqual({ ...configured({}), ...expected })
  })

  it.each<[variables: Record<string, string>, expected: object]>([
    [
      { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://a.example/v1' },
      { openai: { apiKey: 'k', baseUrl: 'http://a.example/v1' } },
    ],
    [
      { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: 'http://a.example' },
      { anthropic: { apiKey: 'k', baseUrl: 'http://a.example' } },
    ],
    [
      { GOOGLE_GENERATIVE_AI_API_KEY: 'k', GOOGLE_BASE_URL: 'http://a.example' },
      { google: { apiKey: 'k', baseUrl: 'http://a.example' } },
    ],
    [
      { OPENAI_COMPATIBLE_BASE_URL: 'http://localhost:11434/v1' },
      { openaiCompatible: { baseUrl: 'http://localhost:11434/v1', apiKey: undefined } },
    ],
    [
      { OPENAI_COMPATIBLE_BASE_URL: 'http://localhost:1', OPENAI_COMPATIBLE_API_KEY: 'k' },
      { openaiCompatible: { baseUrl: 'http://localhost:1', apiKey: 'k' } },
    ],
    [
      { DEFAULT_PROVIDER: 'google', DEFAULT_MODEL: 'some-model' },
      { defaultProvider: 'google', defaultModel: 'some-model' },
    ],
    [
      { EMBEDDING_PROVIDER: 'openai-compatible', EMBEDDING_MODEL: 'small' },
      { embeddingProvider: 'openai-compatible', embeddingModel: 'small' },
    ],
    // Whether its runtime is installed shows when it is used.
    [
      { EMBEDDING_PROVIDER: 'local', EMBEDDING_MODEL: '/models/small' },
      { embeddingProvider: 'local', embeddingModel: '/models/small' },
    ],
  ])('of the models is read: %j', (variables, expected) => {
    expect(configured(variables).models).toEqual({ ...configured({}).models, ...expected })
  })
})

describe('a wrong value', () => {
  it.each([
    ['HOST', 'not a host', 'an IP address or a host name to listen on'],
    ['HOST', 'http://127.0.0.1', 'an IP address or a host name to listen on'],
    ['HOST', 'localhost:8080', 'an IP address or a host name to listen on'],
    ['HOST', '[::1]', 'an IP address or a host name to listen on'],
    ['PORT', 'http', 'a whole number from 0 to 65535'],
    ['PORT', '65536', 'a whole number from 0 to 65535'],
    ['PORT', '80.5', 'a whole number from 0 to 65535'],
    ['BASE_URL', 'agents.example', 'an http or https address'],
    ['BASE_URL', 'ftp://agents.example', 'an http or https address'],
    ['GATEWAY_HEADER', 'X Token', 'a header name'],
    ['PUBLIC_ACCESS', 'none', 'one of full, chat, read'],
    ['AGENTS_BY', 'nobody', 'anyone, proved, owners, or e-mail addresses and @domains, separated by commas'],
    [
      'AGENTS_BY',
      'proved,ada@example.com',
      'anyone, proved, owners, or e-mail addresses and @domains, separated by commas',
    ],
    ['DEV_USER', 'me', 'an e-mail address'],
    ['RATE_LIMIT_GENERAL', '-1', 'a whole number from 0 to 1000000'],
    ['TRUST_PROXY', '10.0.0.1,proxy.internal', 'IP addresses or CIDR ranges, separated by commas'],
    ['TRUST_PROXY', '1', 'IP addresses or CIDR ranges, separated by commas'],
    ['TRUST_PROXY', '127.1', 'IP addresses or CIDR ranges, separated by commas'],
    ['TRUST_PROXY', '10/8', 'IP addresses or CIDR ranges, separated by commas'],
    ['TRUST_PROXY', '10.0.0.0/8/8', 'IP addresses or CIDR ranges, separated by commas'],
    ['TRUST_PROXY', '10.0.0.0/33', 'IP addresses or CIDR ranges, separated by commas'],
    ['OPENAI_BASE_URL', 'file:///etc/passwd', 'an http or https address without a query'],
    ['ANTHROPIC_BASE_URL', 'https://models.example/?version=1', 'an http or https address without a query'],
    ['DEFAULT_PROVIDER', 'acme', 'one of openai, anthropic, google, openai-compatible, builtin'],
    ['EMBEDDING_PROVIDER', 'acme', 'one of builtin, openai, openai-compatible, google, local'],
    ['BUDGET_MONTHLY_TOKENS', '0', 'a whole number from 1 to 1000000000000'],
    ['BUDGET_MONTHLY_TOKENS', '1.5', 'a whole number from 1 to 1000000000000'],
    ['BUDGET_PERSON_MONTHLY_TOKENS', '5k', 'a whole number from 1 to 1000000000000'],
    ['BUDGET_MONTHLY_USD', '-1', 'US dollars, such as 12.50'],
    ['BUDGET_PERSON_MONTHLY_USD', '$5', 'US dollars, such as 12.50'],
    ['CHAT_MAX_ITERATIONS', '0', 'a whole number from 1 to 100'],
    ['MAX_UPLOAD_BYTES', '0', 'a whole number from 1 to 2147483647'],
    ['SQLITE_SYNCHRONOUS', 'off', 'one of normal, full'],
    ['FILES_S3_REGION', 'eu central', 'a region'],
    ['LOG_LEVEL', 'loud', 'one of fatal, error, warn, info, debug, trace, silent'],
  ])('of %s, %j, is named with what is expected', (name, value, expects) => {
    expect(problemsOf({ [name]: value })).toEqual([
      `${name} must be ${expects}, not ${JSON.stringify(value)}.`,
    ])
  })

  it('of OUTBOUND_ALLOW is named with what is wrong about it', () => {
    const [problem, ...others] = problemsOf({ OUTBOUND_ALLOW: 'good.example,http://bad.example/' })
    expect(others).toEqual([])
    expect(problem).toMatch(/^OUTBOUND_ALLOW: .*http:\/\/bad\.example\//)
  })

  it('is reported together with all others, each variable once', () => {
    const problems = problemsOf({
      PORT: 'x',
      RATE_LIMIT_CHAT: 'many',
      LOG_LEVEL: 'loud',
      BASE_URL: 'x',
      TRUST_PROXY: 'x',
      OUTBOUND_ALLOW: 'x/y',
      GATEWAY_AUDIENCE: 'tag',
      DATABASE_URL: 'mysql://x',
    })
    const named = problems.map(problem => /^[A-Z_]+/.exec(problem)?.[0])
    expect(named).toEqual([
      'PORT',
      'BASE_URL',
      'RATE_LIMIT_CHAT',
      'TRUST_PROXY',
      'LOG_LEVEL',
      'DATABASE_URL',
      'OUTBOUND_ALLOW',
      'GATEWAY_JWKS_URL',
    ])
  })
})

describe('a secret', () => {
  const short = randomBytes(31).toString('base64')
  it.each([
    ['ENCRYPTION_KEY', short],
    ['ENCRYPTION_KEY', `${key} and more`],
    ['ENCRYPTION_KEY', key.replaceAll('=', '')],
    ['ENCRYPTION_KEY_PREVIOUS', 'correct horse battery staple'],
    ['OPENAI_API_KEY', 'hunter2…'],
    ['ANTHROPIC_API_KEY', 'hunter2\nhunter2'],
    ['OPENAI_COMPATIBLE_API_KEY', 'hunter2 hunter2'],
    ['DATABASE_URL', 'postgres://user:hunter2@database.example'],
    ['DATABASE_URL', 'mysql://user:hunter2@database.example/agents'],
  ])('in %s is never quoted', (name, value) => {
    const [problem = '', ...others] = problemsOf({ [name]: value })
    expect(others).toEqual([])
    expect(problem).toMatch(new RegExp(`^${name} must be`))
    expect(problem).not.toContain(value)
    expect(problem).not.toContain('hunter2')
  })

  it.each(['BASE_URL', 'GATEWAY_JWKS_URL', 'OPENAI_BASE_URL', 'OPENAI_COMPATIBLE_BASE_URL'])(
    'in the address %s is never quoted',
    name => {
      const problems = problemsOf({ [name]: 'ftp://user:hunter2@host.example/' }).join('\n')
      expect(problems).toMatch(
        /^\w+ must be an http or https address.*, not "ftp:\/\/\*{3}@host\.example\/"\.$/m,
      )
      expect(problems).not.toContain('hunter2')
    },
  )
})

describe('the development user', () => {
  it.each(['127.0.0.1', '::1', 'localhost', '127.0.0.53'])('is allowed on %s', host => {
    expect(configured({ DEV_USER: 'me@example.com', HOST: host }).devUser).toBe('me@example.com')
  })

  it.each(['0.0.0.0', '::', '192.168.1.5', 'agents.example', 'localhost.evil.test'])(
    'is refused on %s',
    host => {
      expect(problemsOf({ DEV_USER: 'me@example.com', HOST: host })).toEqual([
        `DEV_USER must not be set while HOST (${host}) is not a loopback address.`,
      ])
    },
  )

  it('is refused while the identity gateway is on, and while it is half set', () => {
    const problem = 'DEV_USER must not be set while the identity gateway is on: it would let everybody in.'
    expect(problemsOf({ ...gateway, DEV_USER: 'me@example.com' })).toEqual([problem])
    expect(problemsOf({ GATEWAY_AUDIENCE: 'tag', DEV_USER: 'me@example.com' })).toContain(problem)
  })
})

describe('a bucket for files', () => {
  it.each([
    ['FILES_S3_BUCKET', 'a/b', 'the name of a bucket'],
    ['FILES_S3_BUCKET', '../b', 'the name of a bucket'],
    ['FILES_S3_ENDPOINT', 's3.example', 'an http or https address of a server, without user name or query'],
    [
      'FILES_S3_ENDPOINT',
      'https://s3.example/?x=1',
      'an http or https address of a server, without user name or query',
    ],
  ])('whose %s is %j is refused', (name, value, expects) => {
    expect(problemsOf({ ...bucket, [name]: value })).toEqual([
      `${name} must be ${expects}, not ${JSON.stringify(value)}.`,
    ])
  })

  it('is refused with a user name in its address, which is not quoted', () => {
    const [problem, ...others] = problemsOf({ ...bucket, FILES_S3_ENDPOINT: 'https://me:hunter2@s3.example' })
    expect(others).toEqual([])
    expect(problem).toMatch(/^FILES_S3_ENDPOINT must be .*"https:\/\/\*\*\*@s3\.example"\.$/)
  })

  it('may have any secret, which no header carries', () => {
    const secretAccessKey = 'hunter2 für alle'
    expect(configured({ ...bucket, FILES_S3_SECRET_ACCESS_KEY: secretAccessKey }).fileBucket).toMatchObject({
      secretAccessKey,
    })
  })

  it.each(Object.keys(bucket))('is asked for as a whole: without %s', name => {
    const { [name]: _missing, ...others }: Record<string, string> = bucket
    expect(problemsOf(others)).toEqual([
      'FILES_S3_ENDPOINT, FILES_S3_BUCKET, FILES_S3_ACCESS_KEY_ID and FILES_S3_SECRET_ACCESS_KEY must be set together.',
    ])
  })
})

describe('variables that belong together', () => {
  it.each([
    { GATEWAY_JWKS_URL: 'https://keys.example' },
    { GATEWAY_AUDIENCE: 'tag' },
    { GATEWAY_ISSUER: 'https://gate.example' },
  ])('are asked for: %j', variables => {
    expect(problemsOf(variables)).toEqual([
      'GATEWAY_JWKS_URL and GATEWAY_AUDIENCE must be set together, GATEWAY_ISSUER only beside them.',
    ])
  })

  it('name the embedding model of a server that has no usual one', () => {
    expect(problemsOf({ EMBEDDING_PROVIDER: 'openai-compatible' })).toEqual([
      'EMBEDDING_MODEL must be set when EMBEDDING_PROVIDER is openai-compatible.',
    ])
  })
})

describe('prices of models', () => {
  const folder = mkdtempSync(join(tmpdir(), 'prices-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const file = (text: string) => {
    const path = join(folder, 'prices.json')
    writeFileSync(path, text)
    return path
  }

  it('come from a file', () => {
    const ModelPrices = file('{"gpt-5": {"input": 1.25, "output": 10}}')
    expect(configured({ MODEL_PRICES: ModelPrices }).modelPrices).toEqual({
      'gpt-5': { input: 1.25, output: 10 },
    })
  })

  it.each([
    ['no JSON', '{', /^MODEL_PRICES names a file that is no JSON: \//],
    ['no object', '[]', /is no JSON object/],
    ['a price below zero', '{"a": {"input": 1, "output": 1}, "b": {"input": -1, "output": 1}}', /entry "b"/],
    ['a price as a text', '{"a": {"input": "1", "output": 1}}', /entry "a" has no prices/],
    ['a misspelt field', '{"a": {"input": 1, "output": 1, "cached": 1}}', /entry "a"/],
  ])('of a file with %s are refused', (_, text, problem) => {
    expect(problemsOf({ MODEL_PRICES: file(text) })).toEqual([expect.stringMatching(problem)])
  })

  it('of a file that is missing are refused', () => {
    expect(problemsOf({ MODEL_PRICES: join(folder, 'none') })).toEqual([
      expect.stringMatching(/cannot be read/),
    ])
  })
})
