import type { Endpoint } from '../provider.ts'
import { notReached, refusal } from './call-failure.ts'

/** Sends a request and returns its answer if that is a success; throws what `readFailure` reads. */
export async function post(
  { baseUrl, apiKey, fetch }: Endpoint,
  path: string,
  body: object,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const response = await fetch(`${baseUrl}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify(body),
    signal: signal ?? null,
  }).catch(error => {
    throw notReached(error)
  })
  if (!response.ok) throw await refusal(response)
  return response
}
