/** What the service talks to while it is fuzzed: all of it on this machine. */
import { onTestFinished } from 'vitest'
import { fakeMcpServer, textResult, toolNamed } from '../fake-mcp-server.ts'
import {
  openaiText,
  openaiToolCall,
  type RecordedRequest,
  type Reply,
  startModelServer,
} from '../model-server.ts'
import { startPaymentProvider } from '../payment-provider.ts'
import type { Random } from '../random.ts'
import { page, startSite } from '../site-server.ts'

interface Question {
  messages: { role: string }[]
  tools?: { function: { name: string } }[]
}

/** A document whose tools need a credential. */
const openApi = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1' },
  security: [{ api_key: [] }],
  components: { securitySchemes: { api_key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
  paths: { '/a/{id}': { get: { operationId: 'readItem' } } },
})

export async function startSurroundings(random: Random) {
  const model = await startModelServer(request => answerOf(random, request))
  const site = await startSite(({ path }) => {
    if (path.startsWith('/openapi')) return { headers: { 'content-type': 'application/json' }, body: openApi }
    return page(path, ['/a', '/b'], 'The harbour closes its gates at 340 centimetres.')
  })
  const mcp = await fakeMcpServer([toolNamed('ring'), toolNamed('knock')])
  const provider = await startPaymentProvider()
  mcp.callTool = () => textResult('It rang.')
  onTestFinished(() =>
    Promise.all([model, site, provider].map(server => server[Symbol.asyncDispose]())).then(() => {}),
  )
  return {
    urls: [`${site.url}/`, `${site.url}/openapi.json`, mcp.url, 'http://127.0.0.1:1/'],
    environment: {
      DEV_USER: 'dev@example.com',
      OUTBOUND_ALLOW: '127.0.0.1',
      LOG_LEVEL: 'warn',
      CRAWL_MAX_PAGES: '3',
      DEFAULT_PROVIDER: 'openai-compatible',
      DEFAULT_MODEL: 'fake-model',
      OPENAI_COMPATIBLE_BASE_URL: model.url,
      OPENAI_BASE_URL: model.url,
      ANTHROPIC_BASE_URL: model.url,
      GOOGLE_BASE_URL: model.url,
      PROVIDER_API_BASE: provider.url,
    },
  }
}

/** A model that calls what it is offered as often as it answers. */
function answerOf(random: Random, { method, body }: RecordedRequest): Reply {
  if (method !== 'POST') return { json: { data: [{ id: 'fake-model' }] } }
  const { tools = [] } = body as Question
  if (tools.length === 0 || random.next() < 0.4) return { stream: openaiText('The harbour ', 'is open.') }
  const { name } = random.pick(tools).function
  return { stream: openaiToolCall(name, { query: 'harbour', id: '1' }) }
}
