import { once } from 'node:events'
import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { onTestFinished } from 'vitest'

interface Body {
  headers: OutgoingHttpHeaders
  /** What is enough to be refused. */
  first: string
  rest: string
}

/** Goes on sending after the answer, as most clients do; tells whether the connection then takes another request. */
export async function sendToTheEnd(url: string, { headers, first, rest }: Body) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const sent = request(url, { method: 'POST', agent, headers })
  sent.write(first)
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  sent.end(rest)
  await Promise.all([once(sent, 'finish'), once(answer.resume(), 'end')])
  const next = request(url, { agent }).end()
  await once(next, 'response')
  return { status: answer.statusCode, isConnectionKept: next.reusedSocket }
}
