import { createServer } from 'node:http'
import { expect, it } from 'vitest'
import { sendParts } from '#test/support/send-parts.ts'
import { startTelegramServer, telegramRefusal } from '#test/support/telegram-server.ts'
import { telegramParts } from './telegram.ts'

const token = '123456:ABC-DEF_ghi'
const never = new AbortController().signal

/** What is thrown when the message is sent. */
async function failureOf(base: string, text = 'Hello', signal = never) {
  const sent = sendParts(telegramParts({ base, token }, { chat_id: '77', text }, signal))
  return await sent.then(
    () => undefined,
    error => error,
  )
}

it('a text is sent, and a long one as several, in order', async () => {
  await using telegram = await startTelegramServer()
  const bot = { base: telegram.url, token }
  expect(await sendParts(telegramParts(bot, { chat_id: '77', text: 'Grüße 👋 <b>&' }, never))).toEqual(['1'])
  const paragraphs = [3000, 3000, 10].map((length, index) => 'abc'.charAt(index).repeat(length))
  expect(
    await sendParts(telegramParts(bot, { chat_id: '77', text: paragraphs.join('\n\n') }, never)),
  ).toEqual(['2', '3'])
  expect(telegram.calls()).toEqual(
    ['Grüße 👋 <b>&', paragraphs[0], `${paragraphs[1]}\n\n${paragraphs[2]}`].map(text => ({
      token,
      method: 'sendMessage',
      body: { chat_id: '77', text },
    })),
  )
})

it.each([
  [403, 'Forbidden: bot was blocked by the user', true, 'blocked the bot'],
  [400, 'Bad Request: chat not found', true, 'chat not found'],
  [401, 'Unauthorized', true, 'Unauthorized'],
  [500, 'Internal Server Error', false, 'Internal Server Error'],
  [502, 'Bad Gateway', false, 'Bad Gateway'],
])('a %i, "%s", is permanent: %s', async (status, description, isPermanent, message) => {
  await using telegram = await startTelegramServer()
  telegram.next(telegramRefusal(status, description))
  expect(await failureOf(telegram.url)).toMatchObject({
    code: 'CHANNEL_FAILED',
    isPermanent,
    message: expect.stringContaining(message),
  })
})

it('too many messages pass after the seconds that Telegram names', async () => {
  await using telegram = await startTelegramServer()
  telegram.next(telegramRefusal(429, 'Too Many Requests: retry after 35', { retry_after: 35 }))
  expect(await failureOf(telegram.url)).toMatchObject({ isPermanent: false, details: { retry_after: 35 } })
})

it('an empty text is refused for good', async () => {
  await using telegram = await startTelegramServer()
  expect(await failureOf(telegram.url, ' ')).toMatchObject({
    isPermanent: true,
    message: expect.stringContaining('text is empty'),
  })
})

it('redirects are not followed, and what is no answer of Telegram is no success', async () => {
  await using elsewhere = await startTelegramServer()
  await using telegram = await startTelegramServer()
  telegram.next(
    { status: 307, headers: { location: `${elsewhere.url}/bot${token}/sendMessage` }, text: '' },
    { text: 'Welcome to the hotel!' },
    { json: null },
  )
  for (const isPermanent of [true, false, false])
    expect(await failureOf(telegram.url)).toMatchObject({ code: 'CHANNEL_FAILED', isPermanent })
  expect(elsewhere.calls()).toEqual([])
})

it('neither a broken connection nor an echo shows the token', async () => {
  await using telegram = await startTelegramServer()
  telegram.next(telegramRefusal(400, `Bad Request: no bot${token} here`))
  const closing = createServer(request => request.socket.destroy())
  await new Promise<void>(resolve => closing.listen(0, '127.0.0.1', resolve))
  const { port } = Object(closing.address())
  const failures = [
    await failureOf(telegram.url),
    await failureOf(`http://127.0.0.1:${port}`),
    await failureOf('http://127.0.0.1:1'),
    await failureOf('http://user:password@127.0.0.1:1'),
  ]
  closing.close()
  for (const failure of failures) {
    expect(failure).toMatchObject({ code: 'CHANNEL_FAILED' })
    expect(`${failure.message} ${failure.stack} ${JSON.stringify(failure)} ${failure.cause}`).not.toContain(
      token,
    )
  }
  expect(failures.slice(1).map(({ isPermanent }) => isPermanent)).toEqual([false, false, false])
})

it('a token that is none is never sent', async () => {
  await using telegram = await startTelegramServer()
  for (const wrong of ['bot-51ac39', '1:a/../../x', '1:a?b', '1:a#b']) {
    const sent = sendParts(
      telegramParts({ base: telegram.url, token: wrong }, { chat_id: '77', text: 'Hi' }, never),
    )
    await expect(sent).rejects.toMatchObject({ code: 'CHANNEL_NOT_CONFIGURED', isPermanent: true })
  }
  expect(telegram.calls()).toEqual([])
})

it('the signal of the caller ends it with its own reason', async () => {
  await using telegram = await startTelegramServer()
  const reason = new Error('stopped')
  expect(await failureOf(telegram.url, 'Hello', AbortSignal.abort(reason))).toBe(reason)
  expect(telegram.calls()).toEqual([])
})
