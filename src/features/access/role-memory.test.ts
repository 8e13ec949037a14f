import { describe, expect, it } from 'vitest'
import { type KnownRole, readAnew, remember } from './role-memory.ts'

/** Roles that are read from a table, and how often they were. */
function table(rows: Record<string, KnownRole>) {
  const reads: string[] = []
  return {
    reads,
    rows,
    read: async (agentId: string, email: string) => {
      reads.push(`${agentId} ${email}`)
      return rows[`${agentId} ${email}`]
    },
  }
}

const owner = { role: 'owner' } as const
const nothing = { role: null }

describe('roles that are remembered', () => {
  it('are read once, until one was changed', async () => {
    const { read, reads, rows } = table({ 'a olga': owner })
    const memory = remember(read)
    for (let time = 0; time < 3; time += 1) expect(await memory.find('a', 'olga')).toEqual(owner)
    expect(reads).toHaveLength(1)
    rows['a olga'] = nothing
    memory.forget()
    expect(await memory.find('a', 'olga')).toEqual(nothing)
    expect(reads).toHaveLength(2)
  })

  it('include that there is none', async () => {
    const { read, reads } = table({ 'a olga': nothing })
    const memory = remember(read)
    await memory.find('a', 'olga')
    expect(memory.find('a', 'olga')).toEqual(nothing)
    expect(reads).toHaveLength(1)
  })

  it('do not include agents that do not exist, since they may be made', async () => {
    const { read, rows } = table({})
    const memory = remember(read)
    expect(await memory.find('a', 'olga')).toBeUndefined()
    rows['a olga'] = owner
    expect(await memory.find('a', 'olga')).toEqual(owner)
  })

  it('are not what was read before a change that ended meanwhile', async () => {
    const before = Promise.withResolvers<KnownRole>()
    const answers = [before.promise, Promise.resolve(nothing)]
    const memory = remember(async () => await answers.shift())
    const slow = memory.find('a', 'olga')
    memory.forget()
    before.resolve(owner)
    expect(await slow).toEqual(owner)
    expect(await memory.find('a', 'olga')).toEqual(nothing)
  })

  it('are told apart by agent and e-mail, whatever those hold', async () => {
    const { read } = table({ 'a b c': owner, 'a b': nothing, 'b a': owner })
    const memory = remember(read)
    expect(await memory.find('a', 'b c')).toEqual(owner)
    expect(await memory.find('a', 'b')).toEqual(nothing)
    expect(await memory.find('b', 'a')).toEqual(owner)
    expect(await memory.find('ca', 'b ')).toBeUndefined()
  })
})

it('beside other processes every role is read anew', async () => {
  const { read, rows } = table({ 'a olga': owner })
  const memory = readAnew(read)
  expect(await memory.find('a', 'olga')).toEqual(owner)
  rows['a olga'] = nothing
  expect(await memory.find('a', 'olga')).toEqual(nothing)
})
