import { Agent, type IncomingMessage, request } from 'node:http'

/** A request that is answered with server-sent events. */
export interface StreamRequest {
  address: string
  body: string
  /** A text by which an event that carries a token is known, and one that only the end of a whole answer holds. */
  tokenMark: string
  endMark: string
}

/** Times in milliseconds; tokens that arrive together have no gap between them. */
export interface TokenTimes {
  firstToken: number
  gaps: number[]
}

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

/** Sends the request and notes when its tokens arrive. Fails for an answer that is not whole, or has not so many tokens. */
export async function readTokens(stream: StreamRequest, tokens: number): Promise<TokenTimes> {
  const begun = performance.now()
  const response = await send(stream)
  const arrivals: number[] = []
  let text = ''
  let isWhole = false
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  response.setEncoding('utf8').on('data', (piece: string) => {
    const now = performance.now()
    text += piece
    const end = text.lastIndexOf('\n\n')
    if (end < 0) return
    for (const event of text.slice(0, end).split('\n\n')) {
      if (event.includes(stream.tokenMark)) arrivals.push(now)
      else if (event.includes(stream.endMark)) isWhole = true
    }
    text = text.slice(end + 2)
  })
  response.once('end', resolve).once('error', reject)
  await promise
  const [first] = arrivals
  if (first === undefined || !isWhole || arrivals.length !== tokens)
    throw new Error(`${stream.address} sent ${arrivals.length} of ${tokens} tokens: ${text}`)
  return {
    firstToken: first - begun,
    gaps: arrivals.slice(1).map((at, index) => at - (arrivals[index] ?? 0)),
  }
}

async function send({ address, body }: StreamRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  request(address, { method: 'POST', agent, headers }, resolve).once('error', reject).end(body)
  const response = await promise
  if (response.statusCode === 200) return response
  let answer = ''
  for await (const piece of response.setEncoding('utf8')) answer += piece
  throw new Error(`${address} answered ${response.statusCode}: ${answer}`)
}
