import { describe, expect, it } from 'vitest'
import { namedForModels } from './model-names.ts'

const tool = (serverName: string, name: string) => ({ serverName, name })
const namesOf = (tools: ReturnType<typeof tool>[], taken: string[] = []) =>
  namedForModels(tools, new Set(taken)).map(({ name }) => name)

describe('names for models', () => {
  it.each([
    [[tool('a', 'say')], ['say']],
    [
      [tool('a', 'say'), tool('b', 'say')],
      ['a_say', 'b_say'],
    ],
    [[tool('my server', 'files/read')], ['my_server_files_read']],
    [
      [tool('a', 'b_say'), tool('b', 'say'), tool('c', 'say')],
      ['b_say', 'b_say_3180be71', 'c_say'],
    ],
  ])('of %j are %j', (tools, names) => {
    expect(namesOf(tools)).toEqual(names)
  })

  it('are accepted by models, told apart, and no others’', () => {
    const odd = ['é', 'ß', '', 'x'.repeat(64), 'x'.repeat(65), 'x'.repeat(128), 'browse_url', 'a b', 'a.b']
    const tools = ['one', 'öne', 'x'.repeat(100)].flatMap(server => odd.map(name => tool(server, name)))
    const names = namesOf(tools, ['browse_url'])
    expect(new Set(names).size).toBe(tools.length)
    expect(names).not.toContain('browse_url')
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    expect(namesOf(tools, ['browse_url'])).toEqual(names)
  })
})
