/** The WhatsApp Cloud API as far as agents use it: what it refuses, the real one refuses. */
import { type RecordedRequest, type Reply, startModelServer } from './model-server.ts'

export interface WhatsappServer extends AsyncDisposable {
  url: string
  /** Environment variables that make it the WhatsApp of the service. */
  environment: Record<string, string>
  /** Answers the next calls so, in this order, instead of taking the message. */
  next(...replies: Reply[]): void
  /** The bodies of all calls so far, in order. */
  messages(): Record<string, unknown>[]
  requests: readonly RecordedRequest[]
}

interface Message {
  to?: string
  text?: { body: string }
  interactive?: { body: { text: string }; action: { buttons: { reply: { id: string; title: string } }[] } }
}

/** @param taken is called with each message that it has taken. */
export async function startWhatsappServer(
  taken: (message: Message) => void = () => {},
): Promise<WhatsappServer> {
  const laid: Reply[] = []
  let sent = 0

  function take({ method, path, headers, body }: RecordedRequest): Reply {
    const message: Message = Object(body)
    if (method !== 'POST' || !/^\/\d+\/messages$/.test(path)) return whatsappRefusal(404, 100, 'Unknown path')
    if (!headers.authorization?.startsWith('Bearer ')) return whatsappRefusal(401, 190, 'No access token')
    if ((message.text?.body.length ?? 0) > 4096) return whatsappRefusal(400, 100, 'The text is too long')
    const { body: { text } = { text: '' }, action } = message.interactive ?? {}
    const isWrong = action?.buttons.some(({ reply: { id, title } }) => id.length > 256 || title.length > 20)
    if (text.length > 1024 || isWrong || (action?.buttons.length ?? 0) > 3)
      return whatsappRefusal(400, 131009, 'Parameter value is not valid')
    sent += 1
    taken(message)
    const contacts = [{ input: message.to, wa_id: message.to }]
    return { json: { messaging_product: 'whatsapp', contacts, messages: [{ id: `wamid.${sent}` }] } }
  }

  const server = await startModelServer(request => laid.shift() ?? take(request))
  return {
    url: server.url,
    environment: { WHATSAPP_API_BASE: server.url },
    next: (...replies) => laid.push(...replies),
    messages: () => server.requests.map(({ body }) => Object(body)),
    requests: server.requests,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** An error as WhatsApp answers it. */
export function whatsappRefusal(status: number, code: number, message: string, details?: string): Reply {
  const data = details === undefined ? {} : { error_data: { messaging_product: 'whatsapp', details } }
  return { status, json: { error: { message, type: 'OAuthException', code, ...data, fbtrace_id: 'A' } } }
}
