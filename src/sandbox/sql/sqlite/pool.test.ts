import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startProgram } from '#test/support/child-process.ts'
import { eventually } from '#test/support/eventually.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { SqlBusy } from '../sql-busy.ts'
import { createPool, type PoolOptions } from './pool.ts'

function newDatabase(): string {
  const path = join(temporaryDirectory(), 'agent.db')
  const database = new DatabaseSync(path)
  database.exec(`pragma journal_mode = wal; create table numbers (i integer);
    create table conversations (title text, lock_token integer); create table messages (content text);
    insert into conversations values ('a title', 3);`)
  database.close()
  return path
}

function newPool(options: Partial<PoolOptions> = {}) {
  const pool = createPool({ synchronous: 'normal', ...options })
  onTestFinished(() => pool.close())
  const run = (path: string, query: string, signals: AbortSignal[] = []) =>
    pool.run(path, { query, parameters: [], readOnly: false, writes: true, maxRows: 100 }, signals)
  return { pool, run }
}

const counting = 'with recursive n (i) as (select 1 union all select i + 1 from n)'
const endless = `${counting} select count(*) from n`
/** In milliseconds; far more than any test of it takes, so that nothing ends by itself. */
const farLimit = 60_000
const endlessWrite = `${counting} insert into numbers select i from n`

function childrenOf(pid: number): number[] {
  const listed = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  const pairs = listed.split('\n').map(line => line.trim().split(/\s+/).map(Number))
  return pairs.flatMap(([child = 0, parent]) => (parent === pid ? [child] : []))
}

/** The processes that run SQL, without others of this process. */
const consolesOf = (pid: number) =>
  childrenOf(pid).filter(child => commandOf(child).includes('console.worker'))

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

describe('a statement that takes too long', () => {
  it('is killed, and the next one runs', async () => {
    const path = newDatabase()
    // The next one has as little time, also on a machine that is busy with others.
    const { run } = newPool({ limit: 1_500 })
    await expect(run(path, endless)).rejects.toMatchObject({ code: 'SQL_FAILED' })
    expect((await run(path, 'select count(*) from numbers')).rows).toEqual([[0]])
  })

  it('and writes, leaves the database whole and without a part of it', async () => {
    const path = newDatabase()
    const { run } = newPool({ limit: 300 })
    for (let round = 0; round < 3; round += 1)
      await expect(run(path, endlessWrite)).rejects.toMatchObject({ code: 'SQL_FAILED' })
    const { rows } = await newPool().run(path, 'insert into numbers values (7) returning i')
    expect(rows).toEqual([[7]])
    const database = new DatabaseSync(path)
    expect(database.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' })
    expect(database.prepare('select count(*) as count from numbers').get()).toEqual({ count: 1 })
    database.close()
  })

  it('leaves processes to other agents', async () => {
    const [slow, quick] = [newDatabase(), newDatabase()]
    const { pool, run } = newPool({ limit: farLimit, size: 3, perAgent: 2 })
    const runaways = [1, 2, 3, 4].map(() => run(slow, endless))
    expect((await run(quick, 'select 1')).rows).toEqual([[1]])
    pool.close()
    const ends = await Promise.allSettled(runaways)
    expect(ends.map(({ status }) => status)).toEqual(Array(4).fill('rejected'))
  })

  it('takes turns with those of other agents, however many of its own wait', async () => {
    const [first, second, third] = [newDatabase(), newDatabase(), newDatabase()]
    const { pool, run } = newPool({ limit: farLimit, size: 2, perAgent: 1 })
    const runaway = (path: string) => {
      const waiting = new AbortController()
      const ended = run(path, endless, [waiting.signal]).catch(() => {})
      return { ended, stop: () => waiting.abort(new Error('takes too long')) }
    }
    const [ofFirst, ofSecond] = [first, second].map(path => [1, 2, 3, 4].map(() => runaway(path)))
    const answer = run(third, 'select 1')
    for (const running of [ofFirst?.[0], ofSecond?.[0], ofFirst?.[1], ofSecond?.[1]]) {
      running?.stop()
      await running?.ended
    }
    expect((await answer).rows).toEqual([[1]])
    pool.close()
    await Promise.all([...(ofFirst ?? []), ...(ofSecond ?? [])].map(({ ended }) => ended))
  })

  it('leaves one process to agents that have none', async () => {
    const paths = [newDatabase(), newDatabase(), newDatabase()]
    const [, , third = ''] = paths
    const { pool, run } = newPool({ limit: farLimit, size: 4, perAgent: 2 })
    const runaways = paths.slice(0, 2).flatMap(path => [run(path, endless), run(path, endless)])
    expect((await run(third, 'select 1')).rows).toEqual([[1]])
    pool.close()
    await Promise.allSettled(runaways)
  })

  it('is stopped when nobody waits for it any more', async () => {
    const path = newDatabase()
    const { run } = newPool()
    const waiting = new AbortController()
    const reason = new Error('went away')
    const running = run(path, endless, [waiting.signal])
    waiting.abort(reason)
    await expect(running).rejects.toBe(reason)
  })
})

it('one of an agent that has too many waiting is told that it may run later', async () => {
  const path = newDatabase()
  const { pool, run } = newPool({ size: 1, perAgent: 1 })
  const others = Array.from({ length: 501 }, () => run(path, endless))
  await expect(run(path, 'select 1')).rejects.toThrow(SqlBusy)
  pool.close()
  await Promise.allSettled(others)
})

describe('a database that the service itself waits for', () => {
  it('gets its statements that write stopped, and no others', async () => {
    const path = newDatabase()
    const { pool, run } = newPool()
    const writing = run(path, endlessWrite)
    const statement = { query: endless, parameters: [], readOnly: true, maxRows: 1, writes: false }
    const reader = new AbortController()
    const reading = pool.run(path, statement, [reader.signal])
    const asking = setInterval(() => pool.giveWay(path), 20)
    onTestFinished(() => clearInterval(asking))
    await expect(writing).rejects.toThrow('kept the agent itself from writing')
    reader.abort(new Error('still there'))
    await expect(reading).rejects.toThrow('still there')
  })
})

describe('what takes too much memory', () => {
  it.each([
    [
      'in one value',
      "select length(group_concat(printf('%.*c', 9000000, 'x'))) from (select 1 union all select 2 union all select 3)",
    ],
    [
      'in many columns',
      `select ${Array.from({ length: 400 }, (_, index) => `printf('%.*c', 9000000 + ${index}, 'x') as c${index}`).join()}`,
    ],
  ])('%s ends with its process alone', async (_how, query) => {
    const path = newDatabase()
    const { run } = newPool()
    await expect(run(path, query)).rejects.toMatchObject({ code: 'SQL_FAILED' })
    expect((await run(path, 'select 1')).rows).toEqual([[1]])
  })
})

describe('a process that runs statements', () => {
  it('has nothing of the service in its environment', async () => {
    const path = newDatabase()
    const { run } = newPool()
    await run(path, 'select 1')
    const [child = 0] = consolesOf(process.pid)
    const variables = readFileSync(`/proc/${child}/environ`, 'utf8').split('\0').filter(Boolean)
    expect(variables.every(variable => variable.startsWith('NODE_CHANNEL_'))).toBe(true)
  })

  it('ends when it has nothing to do', async () => {
    const path = newDatabase()
    const { run } = newPool({ idle: 1 })
    await run(path, 'select 1')
    await eventually(() => expect(consolesOf(process.pid)).toEqual([]))
  })

  it('ends when the database is left', async () => {
    const path = newDatabase()
    const { pool, run } = newPool()
    await run(path, 'select 1')
    const running = run(path, endless)
    pool.leave(path, new Error('the agent is gone'))
    await expect(running).rejects.toThrow('the agent is gone')
    await eventually(() => expect(consolesOf(process.pid)).toEqual([]))
  })

  it('ends with its parent, also amid a statement', async () => {
    const path = newDatabase()
    const program = startProgram(
      new URL('../../../../test/support/programs/run-endless-sql.ts', import.meta.url),
      path,
    )
    const parent = Number(await program.line())
    const children = consolesOf(parent)
    expect(children.length).toBeGreaterThan(0)
    await program.kill()
    await eventually(() => expect(children.map(commandOf)).toEqual(children.map(() => '')))
  })
})

describe('values', () => {
  it('are JSON, whatever SQLite holds', async () => {
    const { run } = newPool()
    const query = "select 9e999, -9e999, 9007199254740993, x'00ff', 'a' || char(0) || 'b', 0.1, null"
    const { rows } = await run(newDatabase(), query)
    expect(rows).toEqual([
      ['Infinity', '-Infinity', '9007199254740993', { base64: 'AP8=' }, 'a\0b', 0.1, null],
    ])
  })
})

describe('the authorizer', () => {
  const allowed = ['select title, lock_token from conversations', "update conversations set title = 'x'"]
  const refused = [
    'update conversations set lock_token = 9',
    'delete from conversations',
    'vacuum',
    "attach ':memory:' as other",
    'pragma journal_mode = delete',
    'create table x (a)',
    'begin',
    "select load_extension('x')",
    'explain drop table numbers',
  ]

  it.each(allowed)('lets through: %s', async query => {
    const { run } = newPool()
    await run(newDatabase(), query)
  })

  it.each(refused)('is a boundary of its own, whoever has read the statement before: %s', async query => {
    const { run } = newPool()
    await expect(run(newDatabase(), query)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })

  it('keeps bytes out of columns that the service reads as texts', async () => {
    const { run } = newPool()
    const path = newDatabase()
    await expect(run(path, "update conversations set title = x'00ff'")).rejects.toThrow('holds text only')
    expect((await run(path, 'select title from conversations')).rows).toEqual([['a title']])
  })

  it('lets a reader change nothing, whatever was prepared before', async () => {
    const { pool } = newPool()
    const path = newDatabase()
    const statement = { query: 'insert into numbers values (1)', writes: false, parameters: [], maxRows: 1 }
    const run = (readOnly: boolean) => pool.run(path, { ...statement, readOnly }, [])
    expect((await run(false)).rowCount).toBe(1)
    await expect(run(true)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })
})
