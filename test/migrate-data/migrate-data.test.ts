/** `npm run migrate-data` as an operator runs it, between real databases of both engines. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { hasSignedIn } from '#infrastructure/first-sign-in.ts'
import { createSecretBox } from '#platform/encryption/secret-box.ts'
import { checkEncryptionKey } from '#storage/encryption/check-encryption-key.ts'
import { credentialContext } from '#storage/encryption/credential-context.ts'
import { startChatModel, usualAnswer } from '../support/chat-model.ts'
import { startProgram } from '../support/child-process.ts'
import { openaiToolCall } from '../support/model-server.ts'
import { createTestDatabase } from '../support/postgres/databases.ts'
import { runProgram } from '../support/run-program.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { startSite } from '../support/site-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { askAgent, fillPlace, someKey, wakeUpsAt, withPlace } from '../support/transfer-data.ts'

// Several processes start and end in one test.
vi.setConfig({ testTimeout: 180_000 })

const migrateFile = new URL('../../src/migrate-data.ts', import.meta.url)
const key = someKey()
const box = createSecretBox(key)
const keyText = Buffer.from(key).toString('base64')

const places = {
  sqlite: async () => join(temporaryDirectory(), 'data'),
  postgres: async () => {
    const database = await createTestDatabase()
    if (database === undefined) throw new Error('these tests need a server of PostgreSQL')
    onTestFinished(database.remove)
    return database.url
  },
}
const kinds = ['sqlite', 'postgres'] as const

function migrate(from: string, to: string, ...more: string[]) {
  return runProgram(migrateFile, {}, '--from', from, '--to', to, ...more)
}

/** The lines that tell what a part sums up to. */
function sums(stdout: string): string[] {
  return stdout.split('\n').filter(line => line.includes('SHA-256'))
}

function startService(place: string, more: Record<string, string> = {}) {
  const storage = place.startsWith('postgres')
    ? { dataDirectory: temporaryDirectory(), environment: { DATABASE_URL: place } }
    : { dataDirectory: place, environment: { DATABASE_URL: '' } }
  const shared = { ENCRYPTION_KEY: keyText, OUTBOUND_ALLOW: '127.0.0.1' }
  const environment = { ...storage.environment, ...shared, ...more }
  return startServerProcess({ ...storage, environment })
}

it.each([
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
  ['sqlite', 'sqlite'],
  ['postgres', 'postgres'],
] as const)('moves all data from %s to %s and back: nothing is lost, changed or added', async (from, to) => {
  const [source, target, again] = await Promise.all([places[from](), places[to](), places[from]()])
  await fillPlace(source, ['b', 'a'], box)
  const before = await withPlace(source, async storage => {
    // The roles and sessions of people may be gone, the fact that they came is not.
    const value = '2026-01-01T00:00:00.000Z'
    await storage.platform.insertInto('platform_facts').values({ name: 'first_sign_in', value }).execute()
    return await askAgent(storage, 'b')
  })

  const there = await migrate(source, target)
  expect([there.code, there.stderr]).toEqual([0, ''])
  expect(there.stdout).toContain('Agent 2 of 2: b')
  const back = await migrate(target, again)
  expect([back.code, back.stderr]).toEqual([0, ''])
  expect(sums(there.stdout).length).toBeGreaterThan(20)
  expect(sums(back.stdout)).toEqual(sums(there.stdout))

  expect(before).toMatchObject({ files: [true, true, true] })
  expect(before.found.map(contents => contents.length)).not.toContain(0)
  for (const place of [target, again]) {
    expect(await withPlace(place, storage => askAgent(storage, 'b'))).toEqual(before)
    expect(await withPlace(place, ({ platform }) => hasSignedIn(platform))).toBe(true)
  }
})

it.each(kinds)('sources are fetched from %s with the headers that they had', async kind => {
  const [from, to] = await Promise.all([places.sqlite(), places[kind]()])
  const answer = { headers: { 'content-type': 'text/plain', etag: '"one"' }, body: 'Tides of Zweidorf.' }
  await using site = await startSite(() => answer)
  const sources = '/api/agents/default/sources'
  const settled = (server: ServerProcess, id: string) =>
    vi.waitUntil(
      async () => {
        const { body } = await server.call<{ status: string }>('GET', `${sources}/${id}`)
        return body.status === 'ready' ? body : undefined
      },
      { timeout: 240_000 },
    )
  const before = await startService(from)
  const body = { type: 'api', name: 'Tides', url: site.url, headers: { 'X-Key': 'sk-tides' } }
  const created = await before.call<{ id: string }>('POST', sources, { body })
  await settled(before, created.body.id)
  await before.stop()
  expect((await migrate(from, to)).code).toBe(0)
  await using after = await startService(to)
  await after.call('POST', `${sources}/${created.body.id}/refresh`)
  await settled(after, created.body.id)
  expect(site.requests.map(({ headers }) => [headers['x-key'], headers['if-none-match']])).toEqual([
    ['sk-tides', undefined],
    ['sk-tides', '"one"'],
  ])
})

it.each(kinds)('turns that wait for a person go on at %s', async kind => {
  const [from, to] = await Promise.all([places.sqlite(), places[kind]()])
  await using model = await startChatModel()
  const agent = '/api/agents/default'
  const before = await startService(from, model.environment)
  const tool = { name: 'one', description: 'd', type: 'javascript', requiresApproval: 'always' }
  await before.call('POST', `${agent}/tools`, { body: { ...tool, configuration: { code: 'return 1' } } })
  model.next({ stream: openaiToolCall('one', {}) })
  const sent = await before.call<{ userMessage: { conversationId: string } }>('POST', `${agent}/chat`, {
    body: { content: 'Go', background: true },
  })
  const { conversationId } = sent.body.userMessage
  const current = async (server: ServerProcess) =>
    (
      await server.call<{ turn: { status: string; waiting?: { approval_id: string } } | null }>(
        'GET',
        `${agent}/chat/conversations/${conversationId}/turn`,
      )
    ).body.turn
  await vi.waitUntil(async () => (await current(before))?.status === 'waiting', { timeout: 60_000 })
  const call = (await current(before))?.waiting?.approval_id
  await before.stop()
  expect((await migrate(from, to)).code).toBe(0)
  await using after = await startService(to, model.environment)
  const other = { content: 'And?', conversationId }
  expect(await after.call('POST', `${agent}/chat`, { body: other })).toMatchObject({ status: 409 })
  await after.call('POST', `${agent}/chat/approvals/${call}`, { body: {} })
  await vi.waitUntil(async () => (await current(after)) === null, { timeout: 60_000 })
  const list = await after.call('GET', `${agent}/chat?conversationId=${conversationId}`)
  expect(list.body).toMatchObject({
    messages: [{ content: 'Go' }, { content: usualAnswer, toolResults: [{ result: 1 }] }],
  })
})

describe.each(kinds)('a copy on %s', kind => {
  it('goes on where its source was: numbers, keys and waiting work, but nobody runs anything', async () => {
    const [source, target] = await Promise.all([places.sqlite(), places[kind]()])
    await fillPlace(source, ['a'], box, 100)
    expect((await migrate(source, target)).code).toBe(0)
    await withPlace(target, async ({ platform, agentDatabases }) => {
      const credentials = await platform.selectFrom('agent_credentials').selectAll().execute()
      const secrets = credentials.map(({ agent_id, name, sealed }) =>
        box.open(sealed, credentialContext(agent_id, name)),
      )
      expect(secrets.toSorted()).toEqual(['openai_api_key of a', 'telegram_bot_token of a'])
      expect(await platform.selectFrom('agent_removals').selectAll().execute()).toEqual([])
      await agentDatabases.use('a', async ({ db }) => {
        const message = { conversation_id: 'a', role: 'user', content: '', created_at: '' }
        const chunk = { source_id: 'manual', content: '', start_offset: 0, end_offset: 0 }
        const added = await Promise.all([
          db
            .insertInto('messages')
            .values({ id: 'new', ...message })
            .returning('sequence')
            .execute(),
          db
            .insertInto('chunks')
            .values({ id: 'new', ...chunk })
            .returning('sequence')
            .execute(),
        ])
        // Nine chunks, and one that was removed.
        expect(added.flat()).toEqual([{ sequence: 100 + 1 }, { sequence: 9 + 1 + 1 }])
        const locks = await db.selectFrom('conversations').select(['lock_holder', 'lock_token']).execute()
        expect(new Set(locks.map(lock => JSON.stringify(lock)))).toEqual(
          new Set(['{"lock_holder":null,"lock_token":7}']),
        )
        const entries = await db.selectFrom('outbox').select(['id', 'lease_holder']).orderBy('id').execute()
        expect(entries).toEqual(['failed', 'runs', 'waits'].map(id => ({ id, lease_holder: null })))
      })
    })
    // When the work is due that somebody held.
    expect(await wakeUpsAt(target)).toEqual([{ agent_id: 'a', year: 2998 }])
  })

  it('is refused to a service until it is complete, and begun anew by the same command after kill -9', async () => {
    const [source, target, other] = await Promise.all([places.sqlite(), places[kind](), places.sqlite()])
    const agents = ['a', 'b', 'c']
    await fillPlace(source, agents, box, 12_000)
    await fillPlace(other, ['a'], box, 100)

    const parameters = ['--from', source, '--to', target]
    for (const moment of ['Agent 1 of 3: a', 'Agent 3 of 3: c', '  messages: 10000 rows so far']) {
      const program = startProgram(migrateFile, ...parameters)
      let line: string
      do line = await program.line()
      while (line !== moment)
      await program.kill()
    }

    await expect(startService(target)).rejects.toThrow(
      `Copying the data from ${source} to here is not complete. Run the same command`,
    )
    const mixed = await migrate(other, target)
    expect([mixed.code, mixed.stderr]).toEqual([
      1,
      expect.stringMatching(/^The data was not copied: .* holds an incomplete copy of .*\n$/),
    ])
    const fromIncomplete = await migrate(target, join(temporaryDirectory(), 'new'))
    expect(fromIncomplete.stderr).toContain('is itself an incomplete copy')

    const again = await migrate(source, target)
    expect([again.code, again.stderr]).toEqual([0, ''])
    const whole = await migrate(source, await places[kind]())
    expect(sums(again.stdout).length).toBeGreaterThan(10)
    expect(sums(whole.stdout)).toEqual(sums(again.stdout))
    for (const id of agents)
      expect(await withPlace(target, storage => askAgent(storage, id))).toMatchObject({
        files: [true, true, true],
      })
    await using service = await startService(target)
    expect((await service.call('GET', '/readyz')).status).toBe(200)
  })

  it('that was begun anew holds nothing of what was deleted or changed meanwhile', async () => {
    const [source, target] = await Promise.all([places.sqlite(), places[kind]()])
    await fillPlace(source, ['a', 'b', 'c'], box, 100)
    const program = startProgram(migrateFile, '--from', source, '--to', target)
    while ((await program.line()) !== 'Agent 3 of 3: c');
    await program.kill()
    await withPlace(source, async ({ agentDatabases, removeAgentRow }) => {
      await agentDatabases.use('a', ({ db }) =>
        db.updateTable('conversations').set({ title: 'Changed' }).where('id', '=', 'a').execute(),
      )
      await removeAgentRow('b')
    })
    expect(await migrate(source, target)).toMatchObject({ code: 0, stderr: '' })
    await withPlace(target, async ({ platform, agentDatabases }) => {
      const agents = await platform.selectFrom('agents').select('id').orderBy('id').execute()
      expect(agents).toEqual([{ id: 'a' }, { id: 'c' }])
      const title = await agentDatabases.use('a', ({ db }) =>
        db.selectFrom('conversations').select('title').where('id', '=', 'a').execute(),
      )
      expect(title).toEqual([{ title: 'Changed' }])
    })
  })

  it('is not made where there is data', async () => {
    const [source, target] = await Promise.all([places.sqlite(), places[kind]()])
    await fillPlace(source, ['a'], box, 100)
    await fillPlace(target, ['b'], box, 100)
    const { code, stdout, stderr } = await migrate(source, target)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^The data was not copied: .* is not empty: it holds rows in \w+, agents, .*\n$/)
    await withPlace(target, async ({ platform }) => {
      expect(await platform.selectFrom('agents').select('id').execute()).toEqual([{ id: 'b' }])
    })
  })

  it('of one agent joins others, provided that id, name and key allow it', async () => {
    const [source, target, stranger] = await Promise.all([places.sqlite(), places[kind](), places.sqlite()])
    await fillPlace(source, ['a', 'b', 'c'], box, 100)
    await fillPlace(target, ['b'], box, 100)
    const { code, stdout, stderr } = await migrate(source, target, '--agent', 'a')
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain('Agent 1 of 1: a')
    await withPlace(target, async storage => {
      const rows = await storage.platform.selectFrom('agents').select('id').orderBy('id').execute()
      expect(rows).toEqual([{ id: 'a' }, { id: 'b' }])
      const admins = await storage.platform.selectFrom('agent_admins').select('agent_id').execute()
      expect(admins.map(({ agent_id }) => agent_id).toSorted()).toEqual(['a', 'b'])
      expect(await askAgent(storage, 'a')).toEqual(await askAgent(storage, 'b'))
    })

    const twice = await migrate(source, target, '--agent', 'a')
    expect([twice.code, twice.stderr]).toEqual([1, expect.stringContaining('has an agent a already.')])
    const nobody = await migrate(source, target, '--agent', 'nobody')
    expect([nobody.code, nobody.stderr]).toEqual([1, expect.stringContaining('there is no agent nobody in')])
    await withPlace(target, ({ platform }) =>
      platform.updateTable('agents').set({ name: 'C', name_key: 'c' }).where('id', '=', 'b').execute(),
    )
    const namesake = await migrate(source, target, '--agent', 'c')
    expect(namesake.stderr).toContain('has another agent of the name "c".')
    await fillPlace(stranger, ['d'], createSecretBox(someKey()), 100)
    const otherKey = await migrate(stranger, target, '--agent', 'd')
    expect([otherKey.code, otherKey.stderr]).toEqual([1, expect.stringContaining('another encryption key')])
  })

  it('of one agent may be the first, and then keeps the key; but not of one that is being removed', async () => {
    const [source, target] = await Promise.all([places.sqlite(), places[kind]()])
    await fillPlace(source, ['a', 'b'], box, 100)
    expect((await migrate(source, target, '--agent', 'a')).code).toBe(0)
    await withPlace(target, async ({ platform }) => {
      await expect(checkEncryptionKey(platform, createSecretBox(someKey()))).rejects.toThrow('not the one')
      await checkEncryptionKey(platform, box)
      await platform.insertInto('agent_removals').values({ agent_id: 'b' }).execute()
    })
    const removed = await migrate(source, target, '--agent', 'b')
    expect([removed.code, removed.stderr]).toEqual([1, expect.stringContaining('is still to be removed')])
  })

  it('of one agent that was interrupted keeps services out until it is begun anew', async () => {
    const [source, target] = await Promise.all([places.sqlite(), places[kind]()])
    await fillPlace(source, ['a', 'b'], box, 12_000)
    await fillPlace(target, ['a'], box, 100)
    await withPlace(target, ({ platform }) =>
      platform.updateTable('agents').set({ name: 'Here', name_key: 'here' }).execute(),
    )
    const program = startProgram(migrateFile, '--from', source, '--to', target, '--agent', 'b')
    while ((await program.line()) !== '  messages: 10000 rows so far');
    await program.kill()
    await expect(startService(target)).rejects.toThrow('Copying the agent b from')
    const other = await migrate(source, target, '--agent', 'a')
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('incomplete copy of the agent b')])

    expect(await migrate(source, target, '--agent', 'b')).toMatchObject({ code: 0, stderr: '' })
    await withPlace(target, async storage => {
      const agents = await storage.platform.selectFrom('agents').select('name').orderBy('id').execute()
      expect(agents[0]).toEqual({ name: 'Here' })
      for (const id of ['a', 'b'])
        expect(await askAgent(storage, id)).toMatchObject({ files: [true, true, true] })
    })
    await using service = await startService(target)
    expect((await service.call('GET', '/readyz')).status).toBe(200)
  })

  it('waits for no service on either side', async () => {
    const [source, target, other] = await Promise.all([places[kind](), places.sqlite(), places.sqlite()])
    await fillPlace(other, ['a'], box, 100)
    await using service = await startService(source)
    const [outgoing, incoming] = await Promise.all([migrate(source, target), migrate(other, source)])
    expect([outgoing.code, outgoing.stdout]).toEqual([1, ''])
    expect(outgoing.stderr).toMatch(/is in use by another process|a service, or another command, is using/)
    expect(incoming.stderr).toBe(outgoing.stderr)
    await service.stop()
    expect((await migrate(source, target)).code).toBe(0)
  })
})

describe('the encryption key', () => {
  it('goes with the data from folder to folder', async () => {
    const [source, target] = await Promise.all([places.sqlite(), places.sqlite()])
    await fillPlace(source, ['a'], box, 100)
    const [from, to] = [join(source, 'encryption.key'), join(target, 'encryption.key')]
    writeFileSync(from, `${keyText}\n`)
    const { stdout } = await migrate(source, target)
    expect(stdout).toContain(`The encryption key was copied to ${to}.`)
    expect(readFileSync(to, 'utf8')).toBe(readFileSync(from, 'utf8'))
    expect(stdout).not.toContain(keyText)
  })

  it('is named by the place where it stands, for a database', async () => {
    const [source, target] = await Promise.all([places.sqlite(), places.postgres()])
    await fillPlace(source, ['a'], box, 100)
    writeFileSync(join(source, 'encryption.key'), `${keyText}\n`)
    const { stdout } = await migrate(source, target)
    expect(stdout).toContain(`Set ENCRYPTION_KEY to the key that stands in ${source}/encryption.key.`)
    expect(stdout).not.toContain(keyText)
  })

  it('stays what was configured, where no file holds it', async () => {
    const [source, target] = await Promise.all([places.sqlite(), places.sqlite()])
    await fillPlace(source, ['a'], box, 100)
    // As when a key was configured after another one had been generated.
    writeFileSync(join(source, 'encryption.key'), Buffer.from(someKey()).toString('base64'))
    const { stdout } = await migrate(source, target)
    expect(stdout).toContain('Start it with the same encryption key as so far')
    expect(existsSync(join(target, 'encryption.key'))).toBe(false)
  })

  it('of another service is not left beside the copy', async () => {
    const [source, target] = await Promise.all([places.sqlite(), temporaryDirectory()])
    await fillPlace(source, ['a'], box, 100)
    const file = join(target, 'encryption.key')
    writeFileSync(file, Buffer.from(someKey()).toString('base64'))
    const { code, stderr } = await migrate(source, target)
    expect([code, stderr]).toEqual([1, expect.stringContaining(`the key in ${file} is not the one`)])
  })
})

it('replaces the one character that PostgreSQL can not store', async () => {
  const [source, target] = await Promise.all([places.sqlite(), places.postgres()])
  await fillPlace(source, ['a'], box, 100)
  const contents = (place: string) =>
    withPlace(place, ({ agentDatabases }) =>
      agentDatabases.use('a', ({ db }) =>
        db.selectFrom('messages').select('content').where('sequence', '=', 1).execute(),
      ),
    )
  await withPlace(source, ({ agentDatabases }) =>
    agentDatabases.use('a', ({ db }) =>
      db.updateTable('messages').set({ content: 'a\0b' }).where('sequence', '=', 1).execute(),
    ),
  )
  expect((await migrate(source, target)).code).toBe(0)
  expect(await contents(target)).toEqual([{ content: 'a\ufffdb' }])
})

describe('the command', () => {
  it.each([
    [[]],
    [['--from', 'data']],
    [['--from', 'data', '--to', 'mysql://host/name']],
    [['--from', 'data', '--to', 'postgres://host']],
    [['--from', 'data', '--to', 'other', '--agents', 'a']],
    [['data', 'other']],
    [['--from', 'data', '--to', 'other', '--agent', 'a', '--abandon']],
  ])('%j is answered with how to use it', async parameters => {
    const { code, stdout, stderr } = await runProgram(migrateFile, {}, ...parameters)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('Usage: npm run migrate-data -- --from PLACE --to PLACE [--agent ID]')
  })

  it('says where nothing is to be copied from, and makes nothing there', async () => {
    const [nowhere, target, empty] = [
      join(temporaryDirectory(), 'no'),
      temporaryDirectory(),
      await places.postgres(),
    ]
    const { code, stderr } = await migrate(nowhere, target)
    expect([code, stderr]).toEqual([1, `The data was not copied: there is no data in ${nowhere}.\n`])
    expect(existsSync(nowhere)).toBe(false)
    const same = await migrate(empty, empty)
    expect([same.code, same.stderr]).toEqual([1, expect.stringContaining('source and target are the same')])
  })

  it('never shows a password', async () => {
    const source = await places.sqlite()
    await fillPlace(source, ['a'], box, 100)
    const target = new URL(await places.postgres())
    target.password = 'geheim'
    const { code, stdout, stderr } = await migrate(source, target.href)
    expect(code).toBe(0)
    expect(stdout + stderr).not.toContain('geheim')
    target.port = '1'
    const failed = await migrate(source, `${target.href}?password=geheim`)
    expect(failed.code).toBe(1)
    expect(failed.stdout + failed.stderr).not.toContain('geheim')
  })
})
