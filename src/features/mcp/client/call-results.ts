import { markNumber, parseJson, replaceNumbers } from '#platform/exact-json.ts'

/**
 * Extracts the results of calls from any messages of a server: the library above would lose a whole result
 * for one member that its schemas do not know. Instead, it gets an empty result that names the call.
 */
export function createCallResults() {
  const open = new Map<string, AbortController>()
  const results = new Map<string, unknown>()

  function without(message: Record<string, unknown>): object | undefined {
    const { id, result, error } = message
    const key = String(id)
    if (!open.has(key) || Object(result).resultType === 'input_required') return undefined
    const isRefusal = error !== undefined && error !== null
    if (!isRefusal) results.set(key, result)
    const answer = isRefusal ? { error: refusalOf(error) } : { result: standFor(key) }
    return { jsonrpc: '2.0', id: Number(id), ...answer }
  }

  function cancel(key: string): void {
    open.get(key)?.abort()
    open.delete(key)
    results.delete(key)
  }

  return {
    /** Called before a request is sent. Returns a signal to end it: the library leaves cancelled ones. */
    sent(body: unknown): AbortSignal | undefined {
      const { id, method, params } = typeof body === 'string' ? JSON.parse(body) : {}
      if (method === 'notifications/cancelled') cancel(String(params?.requestId))
      if (method !== 'tools/call') return undefined
      const call = new AbortController()
      open.set(String(id), call)
      return call.signal
    },
    /** Returns the message for the library; numbers that a double would change are marked. */
    read(json: string): string {
      const message = open.size === 0 || !/"(result|error)"/.test(json) ? undefined : parsed(json)
      const rest = message && without(message)
      return rest === undefined ? replaceNumbers(json, markNumber) : JSON.stringify(rest)
    },
    /** Returns the result in place of an empty one. */
    take(stand: unknown): unknown {
      const key = String(Object(Object(stand).structuredContent).call)
      const result = results.get(key)
      open.delete(key)
      results.delete(key)
      return result
    },
  }
}

function standFor(call: string) {
  return { resultType: 'complete', content: [], structuredContent: { call } }
}

/** Returns the only form of errors that the library reads. */
function refusalOf(error: unknown): object {
  const { code, message } = Object(error)
  const text = typeof message === 'string' ? message : JSON.stringify(error)
  return { code: Number.isInteger(code) ? code : -32_000, message: text }
}

function parsed(json: string): Record<string, unknown> | undefined {
  try {
    const message = parseJson(json)
    return typeof message === 'object' && message !== null ? message : undefined
  } catch {
    return undefined
  }
}
