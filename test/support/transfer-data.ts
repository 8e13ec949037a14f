/** Data in every table, for tests that move it, and what can be asked of it afterwards. */
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { withAgentDatabase } from '#features/knowledge/indexing/agent-database.ts'
import { createIndexWriter } from '#features/knowledge/indexing/index-writer.ts'
import { searchChunks } from '#features/knowledge/search/search-chunks.ts'
import type { SecretBox } from '#platform/encryption/secret-box.ts'
import { createAgentSecrets } from '#storage/encryption/agent-secrets.ts'
import { checkEncryptionKey } from '#storage/encryption/check-encryption-key.ts'
import { credentialContext } from '#storage/encryption/credential-context.ts'
import type { OpenAgent } from '#storage/engine.ts'
import { readStoredFile } from '#storage/files/read-file.ts'
import { createEngine as createPostgresEngine } from '#storage/postgres/engine.ts'
import type { VectorSpace } from '#storage/search/search-engine.ts'
import { chunkOf } from './chunk-rows.ts'
import { databasesOn } from './databases-on.ts'
import { openEmbeddedStorage } from './embedded-storage.ts'
import { sharedWakeUpRows } from './postgres/wake-ups.ts'

type Storage = Awaited<ReturnType<typeof databasesOn>>

const at = '2026-01-01T00:00:00.000Z'
const later = '2999-01-01T00:00:00.000Z'
const insertedAtOnce = 100
const removedMessages = 3

/** A folder, or the address of a database. */
export function openPlace(place: string): Promise<Storage> {
  return place.startsWith('postgres')
    ? databasesOn(createPostgresEngine({ url: place, maxConnections: 6, onError: () => {} }))
    : openEmbeddedStorage({ path: place })
}

export async function withPlace<Result>(
  place: string,
  work: (storage: Storage) => Promise<Result>,
): Promise<Result> {
  const storage = await openPlace(place)
  try {
    return await work(storage)
  } finally {
    await storage.close()
  }
}

/** Fills an empty place with these agents and their data; the last one gets so many messages, in hundreds. */
export async function fillPlace(
  place: string,
  agents: readonly string[],
  box: SecretBox,
  messages = 1300,
): Promise<void> {
  await withPlace(place, async storage => {
    const { platform } = storage
    await checkEncryptionKey(platform, box)
    await platform.insertInto('agent_removals').values({ agent_id: 'long-gone' }).execute()
    for (const id of agents) {
      await storage.addAgent(id)
      await fillAgentRows(storage, id, box)
      await platform.insertInto('wake_ups').values({ agent_id: id, lane: 'documents', due_at: at }).execute()
      await storage.agentDatabases.use(id, agent =>
        fillAgent(agent, id === agents.at(-1) ? messages : insertedAtOnce),
      )
    }
  })
}

async function fillAgentRows({ platform }: Storage, id: string, box: SecretBox): Promise<void> {
  for (const name of ['openai_api_key', 'telegram_bot_token']) {
    const sealed = box.seal(`${name} of ${id}`, credentialContext(id, name))
    await platform.insertInto('agent_credentials').values({ agent_id: id, name, sealed }).execute()
  }
  await createAgentSecrets(platform, box).write(id, { token: `token of ${id}`, 'X-Key': 'key' })
  await platform
    .insertInto('agent_admins')
    .values({ id: `admin of ${id}`, agent_id: id, email: `${id}@example.com`, role: 'owner', created_at: at })
    .execute()
}

async function fillAgent(agent: OpenAgent, messages: number): Promise<void> {
  await fillConversations(agent, messages)
  await fillOutbox(agent)
  await fillTools(agent)
  await agent.db.insertInto('agent_facts').values({ name: 'colour', value: 'blue' }).execute()
  for (const id of ['manual', 'stories']) await addSource(agent, id)
  await addChatFile(agent)
  await fillIndex(agent)
}

async function fillConversations({ db }: OpenAgent, count: number): Promise<void> {
  const lock = { lock_holder: 'somebody', lock_token: 7, lock_expires_at: later }
  const conversation = { title: 'Äpfel 🍎\u2028', message_count: 2, created_at: at, last_message_at: at }
  for (const id of ['b', 'a', 'Ä'])
    await db
      .insertInto('conversations')
      .values({ id, ...conversation, ...lock })
      .execute()
  const message = { conversation_id: 'a', role: 'user', tool_calls: '[{"n":1.50}]', created_at: at }
  for (let start = 0; start < count; start += insertedAtOnce) {
    const numbers = Array.from({ length: insertedAtOnce }, (_, index) => start + index)
    const rows = numbers.map(number => ({ id: `message-${number}`, content: `“${number}”` }))
    await db
      .insertInto('messages')
      .values(rows.map(row => ({ ...row, ...message })))
      .execute()
  }
  // The numbers of what was removed are not given again.
  await db
    .deleteFrom('messages')
    .where('sequence', '>', count - removedMessages)
    .execute()
}

async function fillTools({ db }: OpenAgent): Promise<void> {
  const times = { created_at: at, updated_at: at }
  await db
    .insertInto('tools')
    .values({
      id: 'weather',
      name: 'weather',
      description: 'Tells the weather',
      type: 'http',
      configuration: '{"url":"https://example.com/{city}"}',
      is_enabled: 1,
      requires_approval: 0,
      cluster: '',
      secret_set: 'a set',
      ...times,
    })
    .execute()
  const scheme = '{"type":"bearer"}'
  await db
    .insertInto('tool_credentials')
    .values({ cluster: 'Shop', name: 'token', scheme, secret_set: null, ...times })
    .execute()
  const server = { id: 'server', name: 'server', url: 'https://example.com/mcp', auth_type: 'bearer' }
  await db
    .insertInto('mcp_servers')
    .values({ ...server, secret_set: 'a set', status: 'error', error: 'It is gone.', ...times })
    .execute()
  const definition = { description: 'Echoes', parameters: '{"type":"object"}', definition_hash: 'ab' }
  await db
    .insertInto('mcp_tools')
    .values({ server_id: 'server', name: 'echo', ...definition, position: null, approved_hash: null })
    .execute()
  const call = { tool_call_id: 'abc123def', conversation_id: 'a', message_id: 'message-1', name: 'weather' }
  const waiting = { arguments: '{"city":"Ulm"}', tool_version: 'ab' }
  await db
    .insertInto('tool_approvals')
    .values({ ...call, ...waiting, status: 'pending', created_at: at, decided_at: null })
    .execute()
}

async function fillOutbox({ db }: OpenAgent): Promise<void> {
  const entry = {
    name: 'nobody.knows',
    lane: 'documents' as const,
    payload: '{"a":1}',
    attempts: 1,
    failures: 0,
    created_at: at,
  }
  const lease = { lease_holder: 'somebody', lease_expires_at: later }
  const failure = { last_error: 'It broke.', failed_at: at, failures: 5 }
  await db
    .insertInto('outbox')
    .values([
      { ...entry, id: 'waits', run_at: later, key: 'of the waiting' },
      { ...entry, id: 'runs', run_at: '2998-01-01T00:00:00.000Z', ...lease },
      { ...entry, id: 'failed', run_at: at, key: 'of the waiting', ...failure },
    ])
    .execute()
}

async function addSource({ db, files }: OpenAgent, id: string): Promise<void> {
  const row = { id, type: 'file', name: `${id}.txt`, status: 'ready', progress: 0.1, chunks: 3 }
  await db
    .insertInto('sources')
    .values({ ...row, error: null, file_path: `file-of-${id}`, config: '{}', created_at: at, updated_at: at })
    .execute()
  await files.write(`file-of-${id}`, Readable.from([uploadOf(id)]))
}

async function addChatFile({ db, files }: OpenAgent): Promise<void> {
  const row = {
    id: 'file-of-message',
    conversation_id: null,
    message_id: 'm',
    name: 'a.txt',
    kind: 'document',
  }
  const stored = { mime_type: 'text/plain', size: 700_000, status: 'ready', progress: 0, error: null }
  await db
    .insertInto('chat_files')
    .values({ ...row, ...stored, created_at: at, created_by: 'person:ada@example.com' })
    .execute()
  await files.write(row.id, Readable.from([uploadOf('message')]))
}

/** More than one part of what a database keeps. */
function uploadOf(id: string): Buffer {
  return Buffer.alloc(700_000, `upload of ${id} \0\xff`)
}

export const floats: VectorSpace = { id: 'openai/small', dimensions: 3, form: 'floats' }

async function fillIndex({ path }: OpenAgent): Promise<void> {
  let made = 0
  const ids = { record: () => `chunk-${++made}`, toolCall: () => '' }
  await withAgentDatabase(path, { readOnly: false }, async db => {
    const writer = createIndexWriter({ db, ids, attempt: 'first attempt' })
    const replace = async (source: string, texts: string[], vectors?: number[][]) => {
      await writer.start(source)
      const embedded = vectors && { space: floats, vectors: vectors.map(values => Float32Array.from(values)) }
      const chunks = texts.map((text, index) => ({
        ...chunkOf(text),
        section: index === 0 ? 'Headline' : null,
      }))
      await writer.add(source, chunks, embedded)
      await writer.finish(source)
    }
    await replace('manual', ['Tea with milk', 'Coffee without sugar', 'Tea tea and a biscuit', '* * *'])
    await replace(
      'stories',
      ['A lighthouse', 'The keeper of the lighthouse', 'Ships'],
      [
        [0.1, -0, 7],
        [3, 0.2, 1e-20],
        [0, 5, 5],
      ],
    )
    // A draft that is not complete: only one of its chunks is in the indexes.
    await writer.start('stories')
    await writer.store('stories', ['Storms', 'More storms'].map(chunkOf))
    await writer.index('stories', 1)
    await db.db.insertInto('chunks').values(surplusChunk).execute()
    await db.db.deleteFrom('chunks').where('id', '=', surplusChunk.id).execute()
  })
}

const surplusChunk = {
  id: 'surplus',
  source_id: 'manual',
  content: '',
  start_offset: 0,
  end_offset: 0,
}

/** What an agent answers from, in one value that is equal wherever the agent is. */
export async function askAgent(storage: Storage, id: string) {
  return await storage.agentDatabases.use(id, async agent => {
    const found = await withAgentDatabase(agent.path, { readOnly: true }, db =>
      Promise.all([
        searchChunks(db, { text: 'tea milk', limit: 10 }),
        searchChunks(db, { text: 'headline', limit: 10 }),
        searchChunks(db, { text: 'cofee withot sugr', limit: 10 }),
        searchChunks(db, {
          text: 'ships',
          limit: 10,
          embedded: { space: floats, vector: Float32Array.of(1, 1, 0) },
        }),
      ]),
    )
    const files = await Promise.all(
      ['manual', 'stories', 'message'].map(source => readStoredFile(agent.files.locate(`file-of-${source}`))),
    )
    return {
      found: found.map(chunks => chunks.map(({ content }) => content)),
      files: files.map((file, index) => uploadOf(['manual', 'stories', 'message'][index] ?? '').equals(file)),
    }
  })
}

/** In which year which agent is to be looked into. */
export async function wakeUpsAt(place: string): Promise<{ agent_id: string; year: number }[]> {
  const rows = place.startsWith('postgres')
    ? await sharedWakeUps(place)
    : await withPlace(place, ({ platform }) => platform.selectFrom('wake_ups').selectAll().execute())
  return rows.map(({ agent_id, due_at }) => ({ agent_id, year: new Date(due_at).getUTCFullYear() }))
}

async function sharedWakeUps(url: string) {
  const engine = createPostgresEngine({ url, maxConnections: 3, onError: () => {} })
  try {
    return await sharedWakeUpRows(engine.direct)
  } finally {
    await engine.close()
  }
}

export function someKey(): Uint8Array {
  return randomBytes(32)
}
