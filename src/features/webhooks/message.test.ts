import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { messageBody, messageId, newSecret, signedHeaders } from './message.ts'

const time = Date.parse('2026-01-01T00:00:00.000Z')
const bodyOf = (payload: unknown) => JSON.parse(messageBody({ name: 'source.ready', time, payload }))

describe('the body of a message', () => {
  it('holds the facts of the event as they are', () => {
    expect(
      bodyOf({ agent_id: 'a', source_id: 's', chunks: 3, workflow_id: 'w', cause: { kind: 'event' } }),
    ).toEqual({
      type: 'source.ready',
      timestamp: '2026-01-01T00:00:00.000Z',
      data: { agent_id: 'a', source_id: 's', chunks: 3, workflow_id: 'w', cause: { kind: 'event' } },
    })
  })

  it('cuts long texts, without leaving half a character', () => {
    const { data } = bodyOf({ agent_id: 'a', name: `${'x'.repeat(999)}😀${'y'.repeat(5000)}` })
    expect(data.name).toHaveLength(1000)
    expect(data.name.isWellFormed()).toBe(true)
  })

  it('is under 20 KB: of too many facts, the ids are left', () => {
    const rows = Array.from({ length: 100 }, () => 'x'.repeat(900))
    const body = messageBody({
      name: 'source.ready',
      time,
      payload: { agent_id: 'a', row_ids: rows, source_id: 's' },
    })
    expect(JSON.parse(body).data).toEqual({ agent_id: 'a', source_id: 's' })
  })
})

describe('a message', () => {
  it('has one id for each event and webhook', () => {
    expect(messageId('event', 'one')).toMatch(/^msg_[\w-]{32}$/)
    expect(messageId('event', 'one')).toBe(messageId('event', 'one'))
    expect(
      new Set([messageId('event', 'one'), messageId('event', 'two'), messageId('other', 'one')]).size,
    ).toBe(3)
  })

  it('is signed as the official library does, with each secret', () => {
    const secrets = [newSecret(), newSecret()]
    for (const secret of secrets) expect(Buffer.from(secret.replace('whsec_', ''), 'base64')).toHaveLength(32)
    const at = new Date(time + 999)
    const headers = signedHeaders('msg_1', at.getTime(), '{"ä":1}', secrets)
    const expected = secrets.map(secret => new Webhook(secret).sign('msg_1', at, '{"ä":1}')).join(' ')
    expect(headers).toEqual({
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(time / 1000),
      'webhook-signature': expected,
    })
  })
})
