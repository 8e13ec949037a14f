import { expect } from 'vitest'
import { eventually } from './eventually.ts'

interface Event {
  type: string
  id?: string
  at: string
}

export interface FollowOptions {
  /** Id of the last event that the client has had. */
  after?: string
  base?: string
  headers?: Record<string, string>
}

/** A client that follows an agent, over a real connection. */
export async function followChanges({
  base,
  agentId,
  after,
  headers = {},
}: FollowOptions & { agentId: string }) {
  const connection = new AbortController()
  const response = await fetch(`${base}/api/agents/${agentId}/events`, {
    headers: { ...headers, ...(after !== undefined && { 'last-event-id': after }) },
    signal: connection.signal,
  })
  let text = ''
  async function read(): Promise<void> {
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += piece
  }
  const ended = read().catch(() => {})
  const blocks = () =>
    text
      .split('\n\n')
      .slice(0, -1)
      .filter(block => !block.startsWith(':'))
  const events = () => blocks().map(block => JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '') as Event)
  return {
    status: response.status,
    contentType: response.headers.get('content-type'),
    /** Resolves when the stream has ended. */
    ended,
    events,
    lastId: () => /^id: (.*)$/m.exec(blocks().at(-1) ?? '')?.[1] ?? '',
    received: (event: object) =>
      eventually(() => expect(events()).toContainEqual(expect.objectContaining(event))),
    close: () => connection.abort(),
  }
}
