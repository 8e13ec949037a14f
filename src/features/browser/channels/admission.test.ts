import { expect, it } from 'vitest'
import { manualClock } from '#test/support/manual-clock.ts'
import { createAdmission } from './admission.ts'

/** The door to one session, for callers without a user; `look` is what happens while their rights are looked up. */
function open(look = () => {}) {
  const sessions = new Map([['agent.one', { id: 'agent.one' }]])
  const admission = createAdmission({
    access: {
      async callerOf({ headers }) {
        await Promise.resolve()
        look()
        return { email: undefined, isAdmin: headers.origin === undefined }
      },
      watch: () => () => {},
    },
    links: { read: async () => undefined },
    held: { find: (_agentId, id) => sessions.get(id) as never },
    clock: manualClock(),
  })
  const admit = (headers = {}) =>
    admission.admit({ url: '/v1/sessions/cast?sessionId=agent.one', headers } as never)
  return { sessions, admit }
}

it('an anonymous caller who may only watch is not taken for one who drives', async () => {
  const { admit } = open()
  const callers = await Promise.all([admit(), admit({ origin: 'https://elsewhere.example' })])
  const viewers = callers.map(caller => ('viewer' in caller ? caller.viewer : undefined))
  expect(viewers.map(viewer => viewer?.mayDrive())).toEqual([true, false])
  expect(viewers[0]?.key).not.toBe(viewers[1]?.key)
})

it('a session that ends while rights are looked up is unknown', async () => {
  const { sessions, admit } = open(() => sessions.clear())
  expect(await admit()).toMatchObject({ code: 4404 })
})
