import { type Body, bodyOf } from './body.ts'

/** An answer whose body is still arriving. A caller that does not read it to its end must call `leave`. */
export interface Reply {
  status: number
  /** Names are in lower case. */
  headers: Record<string, string>
  body: Body
}

export interface Message {
  headers: Record<string, string>
  body: string
  signal: AbortSignal | undefined
}

/** Posts a message; resolves for any status. Redirects are not followed: they are answers, or errors. */
export type Send = (url: string, message: Message) => Promise<Reply>

/** Sends through a `fetch`, such as the outbound guard's. */
export function sendBy(fetch: typeof globalThis.fetch): Send {
  return async (url, { headers, body, signal }) => {
    const init = { method: 'POST', headers, body, signal: signal ?? null, redirect: 'error' } as const
    const response = await fetch(url, init)
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: bodyOf(response.body),
    }
  }
}
