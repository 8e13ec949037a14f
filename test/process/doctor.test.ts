import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Kysely } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfiguration } from '#configuration/configuration.ts'
import { afterSignIn } from '#infrastructure/first-sign-in.ts'
import { migrate } from '#storage/migrate.ts'
import { createSqliteDialect } from '#storage/sqlite/connections/dialect.ts'
import { openDatabase } from '#storage/sqlite/connections/open.ts'
import { schemaParts } from '#storage/sqlite/schema-parts.ts'
import {
  type AgentTables,
  agentTables,
  migrationsOf,
  type PlatformTables,
  platformTables,
} from '#storage/tables.ts'
import { readData } from '../../src/doctor/data.ts'
import { findInData } from '../../src/doctor/data-findings.ts'
import { describe as describeAccess } from '../../src/doctor/describe.ts'
import { examine } from '../../src/doctor/examine.ts'
import { buildApp, type TestApp, testApp } from '../support/build-app.ts'
import { runProgram } from '../support/run-program.ts'
import { signInByOperator } from '../support/sign-in.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const doctor = new URL('../../src/doctor.ts', import.meta.url)

function configurationOf(environment: Record<string, string>) {
  const result = readConfiguration({ DATA_DIR: '/nowhere', ...environment })
  if ('problems' in result) throw new Error(result.problems.join('\n'))
  return result.configuration
}

function found(environment: Record<string, string>): string[] {
  return examine(configurationOf(environment)).map(({ level, problem }) => `${level}: ${problem}`)
}

const open = { HOST: '0.0.0.0', PUBLIC_ACCESS: 'read' }
const gateway = {
  GATEWAY_JWKS_URL: 'https://id.example/keys',
  GATEWAY_AUDIENCE: 'agents',
  GATEWAY_ISSUER: 'https://id.example',
}
const behindProxy = { BASE_URL: 'https://agents.example', TRUST_PROXY: '127.0.0.1', PUBLIC_ACCESS: 'read' }

const provider = { ...behindProxy, OIDC_ISSUER: 'https://id.example', OIDC_CLIENT_ID: 'agents' }

describe('the configuration', () => {
  it.each<[string, Record<string, string>]>([
    ['stranger: Everybody who reaches this address may change', { HOST: '0.0.0.0' }],
    ['stranger: Everybody who reaches this address may change', { HOST: '::', PUBLIC_ACCESS: 'full' }],
    [
      'stranger: Everybody who reaches https://a.example may change',
      { BASE_URL: 'https://a.example', TRUST_PROXY: '127.0.0.1' },
    ],
    [
      'stranger: Who reaches port 8080 of 10.0.0.5 past the identity gateway',
      { HOST: '10.0.0.5', ...gateway },
    ],
    ['stranger: Every web page that somebody visits', { PUBLIC_ACCESS: 'full' }],
    [
      'stranger: Everybody whom a proxy lets through acts as me@example.com',
      { ...behindProxy, DEV_USER: 'me@example.com' },
    ],
    [
      'stranger: The keys of the identity gateway are fetched',
      { ...gateway, GATEWAY_JWKS_URL: 'http://id.example/keys' },
    ],
    ['risk: Tokens of every issuer', { ...gateway, GATEWAY_ISSUER: '' }],
    [
      'risk: Passwords, keys and cookies cross the network',
      { ...behindProxy, BASE_URL: 'http://agents.example' },
    ],
    ['risk: Every client may choose the address', { ...open, TRUST_PROXY: '0.0.0.0/0' }],
    ['risk: Every client may choose the address', { ...open, TRUST_PROXY: '10.0.0.1,::/0' }],
    ['risk: All people share one rate limit', { ...behindProxy, TRUST_PROXY: '' }],
    [
      'risk: Nothing limits how many requests a caller sends (RATE_LIMIT_CHAT)',
      { ...open, RATE_LIMIT_CHAT: '0' },
    ],
    [
      'stranger: Pages, tools and documents that an agent is given may reach programs on this machine',
      { ...open, OUTBOUND_ALLOW: '127.0.0.0/8' },
    ],
    [
      'stranger: Pages, tools and documents that an agent is given may reach programs on this machine',
      { ...open, OUTBOUND_ALLOW: 'localhost' },
    ],
    [
      'stranger: Pages, tools and documents that an agent is given may reach the credentials of the cloud',
      { OUTBOUND_ALLOW: '169.254.169.254' },
    ],
    ['risk: OUTBOUND_ALLOW opens whole networks to agents: 10.0.0.0/8.', { OUTBOUND_ALLOW: '10.0.0.0/8' }],
    [
      'risk: All data cross the network to db.example.com',
      { DATABASE_URL: 'postgres://a:b@db.example.com/agents' },
    ],
    [
      'risk: All data cross the network to 93.184.215.14',
      { DATABASE_URL: 'postgres://a:b@93.184.215.14/agents?sslmode=prefer' },
    ],
    [
      'risk: Uploaded files cross the network',
      {
        FILES_S3_ENDPOINT: 'http://s3.example.com',
        FILES_S3_BUCKET: 'files',
        FILES_S3_ACCESS_KEY_ID: 'a',
        FILES_S3_SECRET_ACCESS_KEY: 'b',
      },
    ],
    [
      'stranger: Who can read or change the connection to the browser',
      { BROWSER_CDP_URL: 'ws://browser.example.com', BROWSER_PROXY_HOST: 'agents' },
    ],
    ['risk: Replicas talk to each other in the clear', { REPLICA_URL: 'http://93.184.215.14:8080' }],
    [
      'risk: Mail, and invitations in it',
      { SMTP_URL: 'smtp://mail.example.com', MAIL_FROM: 'agents@example.com' },
    ],
    [
      'risk: The old encryption key is still configured',
      { ENCRYPTION_KEY_PREVIOUS: Buffer.alloc(32, 'abcdefghijklmnopqr').toString('base64') },
    ],
    [
      'stranger: The encryption key is one that can be guessed',
      { ENCRYPTION_KEY: Buffer.alloc(32).toString('base64') },
    ],
    ['risk: The log holds more than operation needs', { ...open, LOG_LEVEL: 'trace' }],
    [
      'stranger: Everybody may get an address that SIGN_IN_ALLOW admits, and create agents: @gmail.com, @yahoo.co.uk.',
      { ...provider, SIGN_IN_ALLOW: 'ada@gmail.com,@Gmail.com,@yahoo.co.uk,@gmail.example.com' },
    ],
    ...[
      { ...behindProxy, ...gateway, OPENAI_API_KEY: 'k' },
      { ...behindProxy, ...gateway, ANTHROPIC_API_KEY: 'k', AGENTS_BY: 'anyone' },
      { ...provider, ANTHROPIC_API_KEY: 'k', BUDGET_PERSON_MONTHLY_TOKENS: '1000' },
      { ...open, GOOGLE_GENERATIVE_AI_API_KEY: 'k' },
      { ...provider, OPENAI_API_KEY: 'k', BUDGET_MONTHLY_USD: '100' },
      { ...open, OPENAI_COMPATIBLE_BASE_URL: 'https://models.example/v1', OPENAI_COMPATIBLE_API_KEY: 'k' },
    ].map((environment): [string, Record<string, string>] => [
      'risk: People who sign in may make agents, and no budget bounds for sure what these spend',
      environment,
    ]),
    ['risk: People who can choose their own address', { ...provider, OIDC_TRUST_EMAIL: 'true' }],
    [
      'risk: All people of a group own an agent, may delete it, and choose its people, by OIDC_ROLES: staff.',
      { ...provider, OIDC_GROUPS_CLAIM: 'groups', OIDC_ROLES: 'staff=default:owner,leads=default:admin' },
    ],
  ])('%s …', (expected, environment) => {
    const findings = found(environment)
    expect(findings).toHaveLength(1)
    expect(findings[0]).toContain(expected)
  })

  it.each<Record<string, string>>([
    {},
    { OPENAI_API_KEY: 'k' },
    { ...provider, OPENAI_API_KEY: 'k', BUDGET_MONTHLY_TOKENS: '1000000', BUDGET_MONTHLY_USD: '100' },
    { ...open, OPENAI_COMPATIBLE_BASE_URL: 'http://ollama:11434/v1' },
    { DEV_USER: 'me@example.com', OUTBOUND_ALLOW: '127.0.0.1,localhost', RATE_LIMIT_GENERAL: '0' },
    { ...behindProxy, ...gateway, SMTP_URL: 'smtps://mail.example.com', MAIL_FROM: 'a@example.com' },
    {
      ...open,
      BASE_URL: 'https://agents.example',
      TRUST_PROXY: '172.31.250.2',
      DATABASE_URL: 'postgres://agentstead:x@postgres:5432/agentstead',
      REPLICA_URL: 'http://agentstead-1:8080',
      FILES_S3_ENDPOINT: 'http://minio:9000',
      FILES_S3_BUCKET: 'files',
      FILES_S3_ACCESS_KEY_ID: 'a',
      FILES_S3_SECRET_ACCESS_KEY: 'b',
    },
    {
      ...provider,
      SIGN_IN_ALLOW: '@example.com,ada@gmail.com',
      OIDC_GROUPS_CLAIM: 'groups',
      OIDC_ROLES: 'staff=default:viewer',
    },
    { OPENAI_API_KEY: 'k' },
    { ...provider, OPENAI_API_KEY: 'k', AGENTS_BY: 'owners' },
    { ...provider, OPENAI_API_KEY: 'k', AGENTS_BY: '@example.com' },
    {
      ...open,
      DATABASE_URL: 'postgres://a:b@db.example.com/agents?sslmode=verify-full',
      OUTBOUND_ALLOW: 'wiki.lan,10.1.2.0/24',
    },
  ])('is good: %j', environment => {
    expect(found(environment)).toEqual([])
  })
})

describe('the files', () => {
  const plant: Record<string, (folder: string) => void> = {
    'Other users of this machine may change files': folder => chmodSync(folder, 0o777),
    'Other users of this machine may read the key': folder =>
      chmodSync(join(folder, 'encryption.key'), 0o644),
    'Unencrypted copies of data lie on the same disk': folder =>
      writeFileSync(join(folder, 'platform.db.bak'), ''),
    'Unencrypted copies of data lie': folder => {
      mkdirSync(join(folder, '..', 'copy'))
      writeFileSync(join(folder, '..', 'copy', 'platform.db'), '')
    },
  }
  function folderWith(change?: (folder: string) => void): string {
    const folder = join(temporaryDirectory(), 'data')
    mkdirSync(join(folder, 'agents'), { recursive: true, mode: 0o700 })
    for (const name of ['platform.db', 'encryption.key'])
      writeFileSync(join(folder, name), '', { mode: 0o600 })
    change?.(folder)
    return folder
  }

  it.each(Object.entries(plant))('%s …', (expected, change) => {
    const findings = found({ DATA_DIR: folderWith(change) })
    expect(findings).toHaveLength(1)
    expect(findings[0]).toContain(expected)
  })

  it('are good as the service makes them, and with an encrypted copy', () => {
    expect(
      found({ DATA_DIR: folderWith(folder => writeFileSync(join(folder, 'platform.db.age'), '')) }),
    ).toEqual([])
  })
})

describe('the agents', () => {
  let app: TestApp
  let facts: Awaited<ReturnType<typeof readData>>
  afterAll(() => app.close())
  beforeAll(async () => {
    app = await buildApp({ environment: { DEV_USER: 'me@example.com' } })
    const agent = '/api/agents/default'
    for (const key of [
      { name: 'all' },
      { name: 'chats', role: 'chat' },
      { name: 'ends', expires_at: '2099-01-01T00:00:00Z' },
    ])
      expect((await app.call('POST', '/api/auth/keys', { body: key })).status).toBe(201)
    await app.call('PUT', `${agent}/settings`, { body: { sql_tool_writes: true, browser_tools: true } })
    const tools = [
      { name: 'order', type: 'http', configuration: { url: 'https://shop.example/orders', method: 'POST' } },
      { name: 'look_up', type: 'http', configuration: { url: 'https://shop.example/orders', method: 'GET' } },
      { name: 'add_up', type: 'javascript', configuration: { code: 'return args.a + args.b' } },
      { name: 'send', type: 'javascript', configuration: { code: 'return await fetch(args.url)' } },
      {
        name: 'asks',
        type: 'http',
        configuration: { url: 'https://shop.example/', method: 'DELETE' },
        requiresApproval: 'always',
      },
      {
        name: 'is_off',
        type: 'http',
        configuration: { url: 'https://shop.example/', method: 'DELETE' },
        isEnabled: false,
      },
    ]
    for (const tool of tools)
      expect((await app.call('POST', `${agent}/tools`, { body: { description: 'x', ...tool } })).status).toBe(
        201,
      )
    const { platform, agentDatabases } = app.service.infrastructure
    facts = await readData(
      { platform, withAgent: (id, work) => agentDatabases.use(id, ({ db }) => work(db)) },
      configurationOf({}),
    )
  })

  it('that strangers can chat with act for them', () => {
    const findings = findInData(facts, configurationOf({ HOST: '0.0.0.0', PUBLIC_ACCESS: 'chat' }))
    expect(findings.map(({ level, problem }) => `${level}: ${problem}`)).toEqual([
      expect.stringContaining('use tools that act without asking: order, send.'),
      expect.stringContaining('change its database'),
      expect.stringContaining('act in a browser'),
      'risk: API keys that may change agents never expire: all.',
    ])
  })

  it('act for people of messengers, too', () => {
    const agents = facts.agents.map(agent => ({
      ...agent,
      name: 'sales',
      isPublic: false,
      hasOpenChannels: true,
    }))
    const findings = findInData({ ...facts, agents }, configurationOf({}))
    expect(findings).toHaveLength(3)
    expect(findings[0]?.problem).toContain('"sales" by a messenger, since channel_senders is everyone')
  })

  it.each<Record<string, string>>([{}, open])('are closed to strangers: %j', environment => {
    expect(findInData({ ...facts, lastingKeys: [] }, configurationOf(environment))).toEqual([])
  })
})

describe('the command', () => {
  it('ends with 1 where a stranger could change something, and names the change', async () => {
    const { code, stdout } = await runProgram(doctor, { HOST: '0.0.0.0', DATA_DIR: temporaryDirectory() })
    expect(code).toBe(1)
    expect(stdout).toContain('everybody who reaches this machine over the network')
    expect(stdout).toContain('A stranger could change something')
    expect(stdout).toContain('Set PUBLIC_ACCESS to chat or read.')
  })

  it.each<[hasSignedIn: boolean, environment: Record<string, string>, says: string]>([
    [false, {}, 'may do everything but manage its people'],
    [true, {}, 'may read and chat'],
    [true, { HOST: '0.0.0.0' }, 'may read and chat'],
    [true, { PUBLIC_ACCESS: 'full' }, 'may do everything but manage its people'],
    [true, { PUBLIC_ACCESS: 'read' }, 'may read on'],
    [true, gateway, 'may do everything but manage its people'],
    [true, { DEV_USER: 'me@example.com' }, 'may do everything but manage its people'],
  ])(
    'says what callers without a role may do where a sign-in is %j, with %j',
    (hasSignedIn, environment, says) => {
      const configuration = configurationOf(environment)
      const lines = describeAccess(hasSignedIn ? afterSignIn(configuration) : configuration)
      const line = lines.find(each => each.startsWith('Callers without a user')) ?? ''
      expect(line).toContain(says)
      expect(line).toContain('People without a role may do the same there.')
    },
  )

  it('knows from the data that a person has signed in, and which agents OIDC_ROLES names in vain', async () => {
    const dataDirectory = temporaryDirectory()
    const app = await testApp({ dataDirectory })
    const environment = {
      DATA_DIR: dataDirectory,
      ...provider,
      HOST: '0.0.0.0',
      PUBLIC_ACCESS: '',
      OIDC_GROUPS_CLAIM: 'groups',
      OIDC_ROLES: 'staff=Default:viewer,leads=handbook:admin',
    }
    const stranger = 'may change the agent "default" without signing in'
    const before = await runProgram(doctor, environment)
    expect(before).toMatchObject({ code: 1, stdout: expect.stringContaining(stranger) })
    expect(before.stdout).toContain(
      'OIDC_ROLES names agents that are not there, and gives nothing for them: handbook.',
    )
    await signInByOperator(app, 'ada@example.com')
    const after = await runProgram(doctor, environment)
    expect(after).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Callers without a user may read and chat'),
    })
    expect(after.stdout).not.toContain(stranger)
  })

  it('names every way in', () => {
    const lines = describeAccess(configurationOf({ ...provider, ...gateway })).join('\n')
    for (const way of ['API keys', 'An identity gateway', 'https://id.example', 'npm run sign-in'])
      expect(lines).toContain(way)
    expect(describeAccess(configurationOf({})).join('\n')).not.toContain('id.example')
  })

  it.each(['0026', '0028'])('examines data of before migration %s, which the start runs', async before => {
    const folder = temporaryDirectory()
    mkdirSync(join(folder, 'agents', 'default'), { recursive: true, mode: 0o700 })
    async function open<Tables>(path: string, sets: Parameters<typeof migrationsOf>[0]) {
      const database = openDatabase(join(folder, path), { synchronous: 'normal' })
      const db = new Kysely<Tables>({ dialect: createSqliteDialect({ database }) })
      const earlier = Object.entries(migrationsOf(sets, schemaParts)).filter(([name]) => name < before)
      await migrate(db, Object.fromEntries(earlier))
      return db
    }
    const platform = await open<PlatformTables>('platform.db', platformTables)
    const created_at = '2026-01-01T00:00:00.000Z'
    const settings = '{"browser_tools":true}'
    await platform
      .insertInto('agents')
      .values({
        id: 'default',
        name: 'Agent',
        name_key: 'agent',
        description: '',
        status: 'active',
        settings,
        has_database: 1,
        created_at,
        updated_at: created_at,
      })
      .execute()
    await platform.destroy()
    await (await open<AgentTables>(join('agents', 'default', 'agent.db'), agentTables)).destroy()
    const { code, stdout, stderr } = await runProgram(doctor, {
      DATA_DIR: folder,
      HOST: '0.0.0.0',
      PUBLIC_ACCESS: 'chat',
    })
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(stdout).toContain('make it act in a browser')
    expect(stdout).toMatch(/earlier version. The next start migrates them.*0028-audit/)
  })

  it('looks at the data beside a running service, and ends with 0 where all is well', async () => {
    const dataDirectory = temporaryDirectory()
    const app = await testApp({ dataDirectory })
    await app.call('PUT', '/api/agents/default/settings', { body: { browser_tools: true } })
    const run = (environment: Record<string, string>) =>
      runProgram(doctor, { DATA_DIR: dataDirectory, ...environment })
    expect(await run({})).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Nothing needs to be changed.'),
    })
    const exposed = await run({ HOST: '0.0.0.0', PUBLIC_ACCESS: 'chat' })
    expect(exposed).toMatchObject({ code: 1, stdout: expect.stringContaining('make it act in a browser') })
  })
})
