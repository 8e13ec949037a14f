/** Looks for every credential that the service was given, in all that it lets out: answers, log lines and files. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { testApp } from '../support/build-app.ts'
import { headerName, startGateway } from '../support/gateway.ts'
import { startModelServer } from '../support/model-server.ts'
import { formOf } from '../support/upload.ts'

const providers = ['openai-compatible', 'openai', 'anthropic', 'google']
const platformKey = 'sk-platform-4f9b1c'
const agentKey = 'sk-agent-77d2e0'
const providerKey = 'sk_provider_3c81e0'
const walletKey = `0x${'5e77c1'.repeat(10)}abcd`
const accountNumber = 'DE89370400440532013000'
const cardNumber = '4242424242424242'
const botToken = 'bot-51ac39'
const whatsappSecrets = {
  whatsapp_access_token: 'EAAG-0c62f7',
  whatsapp_app_secret: 'app-secret-e4480b',
  whatsapp_verify_token: 'verify-93f1d5',
}
const encryptionKey = Buffer.from('32 bytes that nobody must see!!!').toString('base64')

it('no credential appears in an answer, a log line, an error or a file', async () => {
  // A provider that gives the key away in whatever it says.
  await using provider = await startModelServer(({ headers, path }) => {
    const key = String(headers.authorization ?? headers['x-api-key'] ?? headers['x-goog-api-key'])
    const error = { message: `Incorrect API key provided: ${key} at ${path}`, type: 'invalid_request_error' }
    return { status: 401, headers: { 'x-echo': key }, json: { error } }
  })
  const gateway = await startGateway()
  onTestFinished(() => gateway.close())
  const app = await testApp({
    environment: {
      ...gateway.environment,
      LOG_LEVEL: 'trace',
      ENCRYPTION_KEY: encryptionKey,
      OPENAI_API_KEY: platformKey,
      OPENAI_BASE_URL: `${provider.url}/v1`,
      ANTHROPIC_BASE_URL: provider.url,
      GOOGLE_BASE_URL: provider.url,
      PROVIDER_API_BASE: provider.url,
      OUTBOUND_ALLOW: '127.0.0.1',
    },
  })
  const signedIn = await gateway.headers('olga@example.com')
  const token = signedIn[headerName] ?? ''
  const said: unknown[] = []
  const send = async <Body>(method: string, path: string, body?: object, headers: object = {}) => {
    const options = { headers: { ...signedIn, ...headers }, ...(body === undefined ? {} : { body }) }
    const answer = await app.call<Body>(method, path, options)
    said.push(answer)
    return answer
  }

  const { body: agent } = await send<{ id: string }>('POST', '/api/agents', { name: 'keeper' })
  const path = `/api/agents/${agent.id}`
  const credentials = {
    openai_compatible_api_key: agentKey,
    openai_api_key: agentKey,
    anthropic_api_key: agentKey,
    google_api_key: agentKey,
    telegram_bot_token: botToken,
    ...whatsappSecrets,
    provider_api_key: providerKey,
    provider_webhook_secret: `${providerKey}-events`,
    x402_wallet_key: walletKey,
  }
  await send('PUT', `${path}/settings`, { llm_base_url: `${provider.url}/v1`, ...credentials })
  await send('PUT', `${path}/settings`, { openai_api_key: agentKey, llm_colour: agentKey.length })
  await send('PUT', `${path}/settings`, { openai_api_key: [agentKey] })
  for (const llm_provider of providers) {
    await send('PUT', `${path}/settings`, { llm_provider, llm_model: 'some-model' })
    const { status } = await send('POST', `${path}/chat`, { content: 'Hello' })
    expect(status).toBe(500)
    await send('POST', `${path}/chat`, { content: 'Hello', stream: true })
    await send('GET', `${path}/chat/models`)
  }
  await send('PUT', '/api/agents/default/settings', { llm_provider: 'openai', llm_model: 'some-model' })
  await send('POST', '/api/agents/default/chat', { content: 'Hello' })
  for (const embedding_provider of ['openai', 'google']) {
    await send('PUT', `${path}/settings`, { embedding_provider })
    const form = await formOf([['file', new File(['The tide comes twice a day.'], 'tides.txt')]])
    said.push(
      await app.call('POST', `${path}/sources`, { ...form, headers: { ...signedIn, ...form.headers } }),
    )
    await app.service.infrastructure.runner.idle()
    await send('GET', `${path}/sources`)
  }
  const order = { amount: 100, currency: 'eur', description: 'Advice', card_id: 'card_1' }
  expect((await send('POST', `${path}/provider/charge`, order)).status).toBe(422)
  await send('POST', `${path}/provider/charge`, { ...order, card_id: cardNumber })
  await send('GET', `${path}/provider/cards`)
  await send('POST', `${path}/provider/webhook`, { id: providerKey })
  await send('PUT', `${path}/settings`, { x402_wallet_key: walletKey.slice(1) })
  const bank = { type: 'bank', label: 'Bank', details: { iban: accountNumber } }
  expect((await send('POST', `${path}/payment-methods`, bank)).status).toBe(201)
  await send('POST', `${path}/payment-methods`, { ...bank, type: 'other', details: { card: cardNumber } })
  for (const list of ['payment-methods', 'transactions?state=failed', 'settings'])
    await send('GET', `${path}/${list}`)
  const hook = { url: provider.url, events: ['*'] }
  const registered = await app.call<{ id: string; secret: string }>('POST', `${path}/webhooks`, {
    headers: signedIn,
    body: hook,
  })
  const { id: webhookId, secret: signingSecret } = registered.body
  await send('POST', `${path}/webhooks/${webhookId}/test`)
  await app.service.infrastructure.runner.idle()
  expect(provider.requests.at(-1)?.headers).toHaveProperty('webhook-signature')
  const keys = [
    await app.call<{ id: string; key: string }>('POST', `${path}/keys`, {
      headers: signedIn,
      body: { name: 'CI', role: 'admin' },
    }),
    await app.call<{ id: string; key: string }>('POST', '/api/auth/keys', {
      headers: signedIn,
      body: { name: 'CI' },
    }),
  ].map(({ body }) => body)
  for (const { id, key } of keys) {
    const headers = { authorization: `Bearer ${key}` }
    for (const one of [path, `${path}/audit?format=csv`, `${path}/settings`, `/api/${key}`, '/api/auth/me'])
      await send('GET', one, undefined, headers)
    await send('PUT', `${path}/settings`, { llm_colour: key }, headers)
    await send('PUT', `${path}/settings`, { embedding_provider: key }, headers)
    await send('DELETE', `${path}/keys/${id}`)
    await send('DELETE', `/api/auth/keys/${id}`)
    await send('GET', path, undefined, headers)
  }
  for (const one of [
    path,
    `${path}/keys`,
    '/api/auth/keys',
    '/api/audit',
    `${path}/webhooks`,
    `${path}/webhooks/${webhookId}`,
    `${path}/webhooks/${webhookId}/deliveries`,
    `${path}/chat`,
    `${path}/channels`,
    `${path}/channels/whatsapp/webhook`,
    `${path}/admins`,
    '/api/agents',
    '/metrics',
    '/openapi.json',
    '/api/nothing',
  ])
    await send('GET', `${one}?token=${token}&api_key=${agentKey}`, undefined, {
      authorization: `Bearer ${agentKey}`,
      cookie: `session=${botToken}`,
      'x-api-key': platformKey,
    })
  await app.call('POST', `${path}/chat`, {
    headers: { ...signedIn, 'content-type': 'application/json' },
    payload: `{"content":"${agentKey}"`,
  })
  await app.service.close()

  // The provider did get the keys: they were used, not lost.
  const used = provider.requests.map(({ headers }) => [
    headers.authorization,
    headers['x-api-key'],
    headers['x-goog-api-key'],
  ])
  for (const key of [`Bearer ${agentKey}`, `Bearer ${platformKey}`])
    expect(used).toContainEqual([key, undefined, undefined])
  expect(used).toContainEqual([`Bearer ${providerKey}`, undefined, undefined])
  expect(used).toContainEqual([undefined, agentKey, undefined])
  expect(used).toContainEqual([undefined, undefined, agentKey])
  expect(provider.requests.filter(({ path }) => path.includes('mbed'))).not.toEqual([])
  expect(app.logged.length).toBeGreaterThan(20)
  const secrets = [platformKey, agentKey, botToken, encryptionKey, token, token.split('.')[2] ?? '']
  secrets.push(...Object.values(whatsappSecrets))
  secrets.push(providerKey, walletKey, walletKey.slice(1), accountNumber, cardNumber)
  secrets.push(...keys.map(({ key }) => key))
  secrets.push(signingSecret, signingSecret.replace('whsec_', ''))
  const outputs = { answers: JSON.stringify(said), log: app.logged.join(''), ...filesOf(app.dataDirectory) }
  for (const [name, text] of Object.entries(outputs))
    for (const secret of secrets) expect(text.includes(secret), `${secret} in ${name}`).toBe(false)
})

/** The content of every file below the folder, byte by byte as text. */
function filesOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  expect(files.length).toBeGreaterThan(2)
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name), 'latin1')]),
  )
}
