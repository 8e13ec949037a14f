/** A model server that speaks OpenAI chat completions and says what the test lays out for it. */
import { setTimeout as delay } from 'node:timers/promises'
import {
  openaiChunk,
  openaiText,
  type RecordedRequest,
  type Reply,
  startModelServer,
  wireForm,
} from './model-server.ts'

/** The parts of a question to the model that tests look at. */
export interface Question {
  model: string
  temperature: number
  messages: { role: string; content?: unknown; tool_calls?: unknown[]; tool_call_id?: string }[]
  tools?: { function: { name: string } }[]
}

type Laid = Reply | ((question: Question) => Reply | Promise<Reply>)

export interface ChatModel extends AsyncDisposable {
  url: string
  /** Environment variables that make it the model of every agent. */
  environment: Record<string, string>
  /** Answers the next questions so, in this order; without anything laid out it says "Hello from the model." */
  next(...replies: Laid[]): void
  /** Every question so far; the list of models is none. */
  questions(): Question[]
  /** Requests for the list of models are answered with this from now on. */
  list(reply: Laid): void
  /** Every request so far, with its headers. */
  requests: readonly RecordedRequest[]
}

export const usualAnswer = 'Hello from the model.'

export async function startChatModel(): Promise<ChatModel> {
  const laid: Laid[] = []
  let listed: Laid = { json: { data: [{ id: 'fake-model' }] } }

  const server = await startModelServer(async ({ method, path, body }) => {
    const isQuestion = method === 'POST' && path === '/v1/chat/completions'
    const reply = isQuestion ? (laid.shift() ?? { stream: openaiText(usualAnswer) }) : listed
    return typeof reply === 'function' ? await reply(body as Question) : reply
  })
  return {
    url: server.url,
    environment: {
      OPENAI_COMPATIBLE_BASE_URL: server.url,
      DEFAULT_PROVIDER: 'openai-compatible',
      DEFAULT_MODEL: 'fake-model',
    },
    next: (...replies) => laid.push(...replies),
    questions: () =>
      server.requests.filter(({ method }) => method === 'POST').map(({ body }) => body as Question),
    list(reply) {
      listed = reply
    },
    requests: server.requests,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** An error as a provider answers it; not tried again, and if so without waiting. */
export function refusal(status: number, message: string, code: string | null = null): Reply {
  return {
    status,
    headers: { 'retry-after': '0' },
    json: { error: { message, type: 'invalid_request_error', param: null, code } },
  }
}

export interface HeldStream {
  reply: Reply
  /** Resolves when the model has begun to answer. */
  begun: Promise<void>
  /** Lets the rest of the answer come. */
  open(): void
  /** Resolves when the service has ended the connection, or has read the answer to its end. */
  ended: Promise<void>
}

/** An answer whose first words come at once, and whose last ones when the test lets them. */
export function heldStream(first: readonly string[], last: readonly string[] = []): HeldStream {
  const begun = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()

  async function* stream(): AsyncGenerator<string> {
    try {
      for (const content of first) yield chunk({ content })
      begun.resolve()
      // A comment now and then is how a server learns that nobody listens any more.
      while (await Promise.race([opened.promise.then(() => false), delay(10, true)])) yield ': waiting\n\n'
      for (const content of last) yield chunk({ content })
      yield* wireForm('openai', [openaiChunk({}, 'stop')])
    } finally {
      ended.resolve()
    }
  }
  return { reply: { stream: stream() }, begun: begun.promise, open: opened.resolve, ended: ended.promise }
}

function chunk(delta: object): string {
  return `data: ${JSON.stringify(openaiChunk(delta))}\n\n`
}
