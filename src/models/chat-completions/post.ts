import type { Endpoint } from '../providers/provider.ts'
import { addressBelow } from '../transport/base-address.ts'
import { type Reply, sendBy } from '../transport/send.ts'
import { notReached, refusal } from './call-failure.ts'

interface Question {
  content: object
  /** The media type to accept. */
  accept: 'text/event-stream' | 'application/json'
  signal: AbortSignal | undefined
}

/** Sends a request and returns a successful answer; throws errors that `readFailure` understands. */
export async function post(
  { baseUrl, apiKey, fetch, send = sendBy(fetch) }: Endpoint,
  path: string,
  { content, accept, signal }: Question,
): Promise<Reply> {
  const headers = {
    'content-type': 'application/json',
    accept,
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  }
  const message = { headers, body: JSON.stringify(content), signal }
  const reply = await send(addressBelow(baseUrl, path), message).catch(error => {
    throw notReached(error)
  })
  if (reply.status < 200 || reply.status > 299) throw await refusal(reply)
  return reply
}
