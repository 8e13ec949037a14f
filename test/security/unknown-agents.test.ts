/** Who shows no valid token learns nothing of an agent, not even whether it exists. */
import { expect, it } from 'vitest'
import { makeAgent } from '../support/agents.ts'
import { type Answer, type CallOptions, testApp } from '../support/build-app.ts'

/** What belongs to this request alone. */
const own = ['x-request-id', 'date', 'x-ratelimit-remaining', 'x-ratelimit-reset']

function shown({ status, headers, body }: Answer) {
  return { status, body, headers: Object.entries(headers).filter(([name]) => !own.includes(name)) }
}

it('a wrong token is answered as an agent that does not exist', async () => {
  const app = await testApp({ environment: { DEV_USER: 'owner@example.com' } })
  const [opened, bare] = [await makeAgent(app), await makeAgent(app)]
  const path = `/api/agents/${opened}`
  const settings = {
    telegram_bot_token: '1:a',
    whatsapp_access_token: 'a',
    whatsapp_phone_number_id: '1',
    whatsapp_app_secret: 's',
    whatsapp_verify_token: 'v',
  }
  expect(await app.call('PUT', `${path}/settings`, { body: settings })).toMatchObject({ status: 200 })
  expect(await app.call('POST', `${path}/calendar/feed`)).toMatchObject({ status: 200 })
  const trigger = { id: 't', type: 'trigger', data: { event: 'webhook' } }
  const workflow = { name: 'Hooked', nodes: [trigger], edges: [] }
  const { body } = await app.call<{ id: string }>('POST', `${path}/workflows`, { body: workflow })
  expect(await app.call('POST', `${path}/workflows/${body.id}/hook`)).toMatchObject({ status: 200 })

  const json = { payload: '{}', headers: { 'content-type': 'application/json' } }
  const signed = { ...json, headers: { ...json.headers, 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` } }
  const secret = { ...json, headers: { ...json.headers, 'x-telegram-bot-api-secret-token': 'wrong' } }
  const calls: [method: string, below: string, options?: CallOptions][] = [
    ['POST', 'hooks/wrong', json],
    ['GET', 'calendar/feed.ics?token=wrong'],
    ['GET', 'calendar/feed.ics'],
    ['POST', 'channels/telegram/webhook', json],
    ['POST', 'channels/telegram/webhook', secret],
    ['POST', 'channels/whatsapp/webhook', json],
    ['POST', 'channels/whatsapp/webhook', signed],
    ['GET', 'channels/whatsapp/webhook?hub.verify_token=wrong&hub.challenge=1'],
    ['POST', 'provider/webhook', json],
    ['GET', 'decisions/y.wrong.wrong'],
    ['POST', 'decisions/y.wrong.wrong'],
  ]
  for (const [method, below, options] of calls) {
    const [none, ...others] = await Promise.all(
      ['nobody', opened, bare].map(async id => ({
        below,
        ...shown(await app.call(method, `/api/agents/${id}/${below}`, options)),
      })),
    )
    expect([401, 404]).toContain(none?.status)
    for (const other of others) expect(other).toEqual(none)
  }
})
