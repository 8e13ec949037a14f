/**
 * A model server of its own process that speaks OpenAI's chat completions and says what it is asked for: the last message
 * `50 tokens` is answered with 50 tokens as fast as they can be sent, each by itself, `50 tokens at 20/s` at that pace, and
 * `50 tokens of Markdown` with a text as models write it; `call name` with a call of that tool. `/hang` is never answered.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay, setImmediate as soon } from 'node:timers/promises'
import { openaiChunk, openaiToolCall } from '#test/support/model-server.ts'

interface ChatRequest {
  messages: { role: string; content: string }[]
}

const models = { object: 'list', data: [{ id: 'fake-model', object: 'model' }] }
const token = eventOf(openaiChunk({ content: 'token ' }))

/** Paragraphs, lists, code and a table, in pieces of a token's length. */
const markdown = [
  '## Firing a kiln\n\nThe kiln is heated **slowly** at first, since water in the clay becomes steam at 100 degrees; see ',
  '[the manual](https://example.com/manual) for the `cone` of each glaze.\n\n- Bisque firing: 1000 degrees\n- Glaze firing: ',
  '1280 degrees\n- Cooling takes twice as long as heating\n\n1. Load the shelves.\n2. Close the door.\n3. Set the program.\n\n',
  '```js\nconst hours = degrees / 100\nif (hours > 12) throw new Error("too slow")\n```\n\n',
  '| cone | degrees | colour |\n|---|---|---|\n| 04 | 1060 | red |\n| 6 | 1222 | orange |\n| 10 | 1305 | white |\n\n',
]
  .join('')
  .match(/[\s\S]{1,4}/g)
  ?.map(content => eventOf(openaiChunk({ content }))) as string[]
const finish = eventOf(openaiChunk({}, 'stop'))

function eventOf(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

function usage(tokens: number): string {
  const counts = { prompt_tokens: 10, completion_tokens: tokens, total_tokens: tokens + 10 }
  return eventOf({ ...openaiChunk({}), choices: [], usage: counts })
}

async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  if (incoming.url === '/hang') return
  let body = ''
  for await (const piece of incoming.setEncoding('utf8')) body += piece
  if (incoming.method === 'GET') {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(models))
    return
  }
  const { messages } = JSON.parse(body) as ChatRequest
  const content = messages.at(-1)?.content ?? ''
  const [, tokens = '1', kind, pace] = /(\d+) tokens( of Markdown)?(?: at (\d+)\/s)?/.exec(content) ?? []
  const [, called] = /^call (\w+)$/m.exec(content) ?? []
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (called !== undefined) {
    response.end(openaiToolCall(called, {}).join(''))
    return
  }
  const texts = kind === undefined ? [token] : markdown
  await send(response, { texts, tokens: Number(tokens), pause: pace === undefined ? 0 : 1000 / Number(pace) })
  response.end(`${finish}${usage(Number(tokens))}data: [DONE]\n\n`)
}

/** Every token has its own due time, so that one that is late does not delay the next. */
async function send(
  response: ServerResponse,
  { texts, tokens, pause }: { texts: readonly string[]; tokens: number; pause: number },
): Promise<void> {
  const begun = performance.now()
  for (let index = 0; index < tokens && !response.destroyed; index += 1) {
    const wait = begun + index * pause - performance.now()
    if (wait > 0) await delay(wait)
    else await soon()
    response.write(texts[index % texts.length])
  }
}

const server = createServer((incoming, response) => {
  answer(incoming, response).catch(error => response.destroy(error))
})
// Idle connections stay open for as long as a benchmark runs.
server.keepAliveTimeout = 120_000
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
