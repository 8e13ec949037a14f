/** The real service under a clock that tests set, whose schedules call a receiver on loopback. */
import { expect } from 'vitest'
import type { Schedule } from '#features/schedules/schedules.schema.ts'
import { makeAgent } from './agents.ts'
import { type Answer, buildApp, type TestApp } from './build-app.ts'
import { type ManualClock, manualClock } from './manual-clock.ts'
import { passTime } from './pass-time.ts'
import { type Received, startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts'
import { workflowCalls } from './workflows.ts'

export interface ScheduleStage extends AsyncDisposable {
  app: TestApp
  clock: ManualClock
  /** Of the receiver; what it answers is set by `answer`. */
  receiver: WebhookReceiver
  answer: { status: number }
  /** Lets time pass and waits for what is due: milliseconds, or the time to go to. */
  pass(time: number | string): Promise<void>
  /** Calls about the schedules of an agent of its own. */
  agent(): Promise<AgentCalls>
}

export type AgentCalls = Awaited<ReturnType<typeof callsOf>>

/** To be closed by the caller. */
export async function setScheduleStage(): Promise<ScheduleStage> {
  const clock = manualClock()
  const answer = { status: 200 }
  const receiver = await startWebhookReceiver(() => answer)
  const environment = { DEV_USER: 'dev@example.com', OUTBOUND_ALLOW: '127.0.0.1' }
  const app = await buildApp({ environment, clock })
  return {
    app,
    clock,
    receiver,
    answer,
    pass: time => passTime(app, clock, typeof time === 'number' ? time : Date.parse(time) - clock.now()),
    agent: async () => callsOf(app, receiver, await makeAgent(app)),
    async [Symbol.asyncDispose]() {
      await app.close()
      await receiver[Symbol.asyncDispose]()
    },
  }
}

function callsOf(app: TestApp, receiver: WebhookReceiver, agentId: string) {
  const path = `/api/agents/${agentId}/schedules`
  return {
    agentId,
    path,
    workflows: workflowCalls(app, `/api/agents/${agentId}`),
    /** A schedule that calls the receiver unless it says otherwise. */
    post: (fields: object): Promise<Answer<Schedule>> => {
      const callback = { callback_type: 'webhook', callback_data: { url: `${receiver.url}/${agentId}` } }
      return app.call('POST', path, { body: { name: 'S', ...callback, ...fields } })
    },
    async create(fields: object): Promise<string> {
      const { status, body } = await this.post(fields)
      expect({ status, body }).toMatchObject({ status: 201 })
      return body.id
    },
    get: async (id: string): Promise<Schedule> => (await app.call<Schedule>('GET', `${path}/${id}`)).body,
    put: (id: string, body: object) => app.call<Schedule>('PUT', `${path}/${id}`, { body }),
    run: (id: string) => app.call('POST', `${path}/${id}/run`),
    setAgent: (body: object) => app.call('PUT', `/api/agents/${agentId}`, { body }),
    received: (): Received[] => receiver.received.filter(({ path: to }) => to === `/${agentId}`),
  }
}
