/** Schedules that are made, moved, paused and deleted while servers are killed; and what must have come in the end. */
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Schedule } from '#features/schedules/schedules.schema.ts'
import { crashRounds } from './endurance.ts'
import { eventually } from './eventually.ts'
import type { ServerProcess } from './server-process.ts'
import { startWebhookReceiver } from './webhook-receiver.ts'

export const scheduleCrashes = crashRounds
/** Milliseconds: a job that was interrupted waits for up to 30 s. */
const recoveryLimit = 120_000
const path = '/api/agents/default/schedules'
const perRound = 8

type Call = ServerProcess['call']

interface Known {
  id: string
  isDeleted: boolean
  /** Whether it may have been given another time: then it may run more than once. */
  isMoved: boolean
}

export async function scheduleLoad(random: () => number) {
  const receiver = await startWebhookReceiver()
  const known: Known[] = []

  async function create(call: Call): Promise<void> {
    const delay_seconds = 1 + Math.floor(random() * 3)
    const callback = { callback_type: 'webhook', callback_data: { url: receiver.url } }
    const { body } = await call<Schedule>('POST', path, {
      body: { name: 'S', type: 'delayed', delay_seconds, overlap: 'queue', ...callback },
    })
    known.push({ id: body.id, isDeleted: false, isMoved: false })
  }

  async function change(call: Call): Promise<void> {
    const one = known[Math.floor(random() * known.length)]
    if (one === undefined || one.isDeleted) return
    const kind = random()
    if (kind < 0.2) {
      // Whether it is gone is not known if the server dies.
      one.isDeleted = true
      await call('DELETE', `${path}/${one.id}`)
      return
    }
    one.isMoved = true
    if (kind < 0.6)
      await call('PUT', `${path}/${one.id}`, { body: { delay_seconds: 1 + Math.floor(random() * 3) } })
    else {
      await call('PUT', `${path}/${one.id}`, { body: { status: 'paused' } })
      await call('PUT', `${path}/${one.id}`, { body: { status: 'active' } })
    }
  }

  /** The keys under which calls came, by schedule. */
  function keysOf(id: string): string[] {
    const own = receiver.received.filter(({ body }) => JSON.parse(body).schedule_id === id)
    return [...new Set(own.map(({ headers }) => String(headers['idempotency-key'])))]
  }

  return {
    /** Makes and changes schedules for as long as the server lives. */
    async work(call: Call): Promise<void> {
      for (let n = 0; n < perRound; n += 1) {
        const isAlive = await (n % 3 < 2 ? create(call) : change(call)).then(
          () => true,
          () => false,
        )
        if (!isAlive) return
        await delay(random() * 100)
      }
    },

    /** Each that was not moved has run once; whatever has run, or came, did so once. */
    async expectEachOnce(call: Call): Promise<void> {
      for (const { id } of known) {
        const { body } = await call<Schedule>('GET', `${path}/${id}`)
        if (body.status === 'paused') await call('PUT', `${path}/${id}`, { body: { status: 'active' } })
      }
      await eventually(async () => {
        for (const status of ['active', 'paused']) {
          const { body } = await call<{ schedules: unknown[] }>('GET', `${path}?status=${status}`)
          expect(body.schedules).toEqual([])
        }
      }, recoveryLimit)
      for (const { id, isDeleted, isMoved } of known) await expectOnce(call, { id, isDeleted, isMoved })
      expect(receiver.received.length).toBeGreaterThan(scheduleCrashes)
    },

    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  }

  async function expectOnce(call: Call, { id, isDeleted, isMoved }: Known): Promise<void> {
    let answer = await call<Schedule>('GET', `${path}/${id}`)
    if (isDeleted && answer.status === 404)
      return expect(keysOf(id).length).toBeLessThanOrEqual(isMoved ? 9 : 1)
    await eventually(async () => {
      answer = await call<Schedule>('GET', `${path}/${id}`)
      expect(answer.body.current).toEqual([])
    }, recoveryLimit)
    const { executions } = answer.body
    const times = executions.map(({ scheduled_for }) => scheduled_for)
    expect(executions.filter(({ status }) => status !== 'success')).toEqual([])
    expect(new Set(times).size).toBe(times.length)
    expect(keysOf(id).toSorted()).toEqual(executions.map(execution => execution.id).toSorted())
    if (isMoved) expect(executions.length).toBeGreaterThan(0)
    else expect(executions).toHaveLength(1)
  }
}
