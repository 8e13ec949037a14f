import { expect, it } from 'vitest'
import { sendParts } from '#test/support/send-parts.ts'
import { startWhatsappServer, whatsappRefusal } from '#test/support/whatsapp-server.ts'
import { type WhatsappMessage, type WhatsappNumber, whatsappParts } from './whatsapp.ts'

const token = 'EAAG-whatsapp-token'
const never = new AbortController().signal
const sendWhatsapp = (number: WhatsappNumber, message: WhatsappMessage, signal = never) =>
  sendParts(whatsappParts(number, message, signal))
const number = (base: string) => ({ base, token, phoneNumberId: '10987' })

it('a text is sent, and a long one as several, to the digits of the number', async () => {
  await using whatsapp = await startWhatsappServer()
  const to = '+49 (170) 123-4567'
  const spelled = '0049 (0)170/123-4567'
  expect(await sendWhatsapp(number(whatsapp.url), { to: spelled, text: 'Grüße 👋' })).toEqual(['wamid.1'])
  const paragraphs = ['a'.repeat(4000), 'b'.repeat(4000)]
  expect(await sendWhatsapp(number(whatsapp.url), { to, text: paragraphs.join('\n\n') })).toEqual([
    'wamid.2',
    'wamid.3',
  ])
  expect(whatsapp.messages()).toEqual(
    ['Grüße 👋', ...paragraphs].map(body => ({
      messaging_product: 'whatsapp',
      to: '491701234567',
      type: 'text',
      text: { body },
    })),
  )
  expect(whatsapp.requests[0]).toMatchObject({
    path: '/10987/messages',
    headers: { authorization: `Bearer ${token}` },
  })
})

it('a template is sent with its parameters', async () => {
  await using whatsapp = await startWhatsappServer()
  const to = '491701234567'
  const reminder = { name: 'reminder', language: 'en', parameters: ['Ann', '9:30'] }
  await sendWhatsapp(number(whatsapp.url), { to, template: reminder })
  await sendWhatsapp(number(whatsapp.url), { to, template: { name: 'hello', language: 'de' } })
  const parameters = ['Ann', '9:30'].map(text => ({ type: 'text', text }))
  expect(whatsapp.messages().map(({ template }) => template)).toEqual([
    { name: 'reminder', language: { code: 'en' }, components: [{ type: 'body', parameters }] },
    { name: 'hello', language: { code: 'de' }, components: [] },
  ])
})

it.each([
  [400, 131047, 'Re-engagement message', true, 'Send a template'],
  [400, 131026, 'Message undeliverable', true, 'Message undeliverable'],
  [401, 190, 'Access token has expired', true, 'expired'],
  [400, 131056, 'Pair rate limit hit', false, 'Pair rate limit hit'],
  [429, 130429, 'Rate limit hit', false, 'Rate limit hit'],
  [400, 80007, 'Rate limit issues', false, 'Rate limit issues'],
  [500, 131000, 'Something went wrong', false, 'Something went wrong'],
  [503, 133004, 'Server temporarily unavailable', false, 'unavailable'],
])('a %i with code %i, "%s", is permanent: %s', async (status, code, text, isPermanent, message) => {
  await using whatsapp = await startWhatsappServer()
  whatsapp.next(whatsappRefusal(status, code, text))
  await expect(sendWhatsapp(number(whatsapp.url), { to: '49170', text: 'Hello' })).rejects.toMatchObject({
    code: 'CHANNEL_FAILED',
    isPermanent,
    message: expect.stringContaining(message),
  })
})

it('the details of an error are told, without the token', async () => {
  await using whatsapp = await startWhatsappServer()
  whatsapp.next(whatsappRefusal(400, 132000, 'Invalid parameter', `2 parameters expected (${token})`))
  const sent = sendWhatsapp(number(whatsapp.url), { to: '49170', text: 'Hello' })
  const failure = await sent.catch(error => error)
  expect(failure.message).toContain('2 parameters expected (********)')
})
