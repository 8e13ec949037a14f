import { parseJson } from '../exact-json.ts'
import { createSecretFilter } from './hide-secrets.ts'
import type { OutboundResponse } from './outbound.ts'

/** The body of an answer for a model or a workflow: parsed if it is JSON, without secrets, and named if it is no text. */
export function readContent(
  answer: Pick<OutboundResponse, 'headers' | 'body' | 'text'>,
  secrets: readonly string[],
): unknown {
  const type = (answer.headers.get('content-type') ?? '').toLowerCase().split(';')[0]?.trim() ?? ''
  if (answer.body.length === 0) return ''
  if (!isText(type))
    return `${answer.body.length} bytes of ${type === '' ? 'unknown type' : type}, which are not text.`
  const withoutSecrets = createSecretFilter(secrets)
  const text = withoutSecrets(answer.text())
  if (!/[/+]json$/.test(type)) return text
  try {
    // Normalises the service's escapes to ours, by which secrets are recognised.
    const content = parseJson(text)
    const rewritten = JSON.stringify(content)
    const hidden = withoutSecrets(rewritten)
    return hidden === rewritten ? content : parseJson(hidden)
  } catch {
    // Not JSON, or nested too deeply to be serialised.
    return text
  }
}

function isText(type: string): boolean {
  return (
    type === '' ||
    /^(text\/|application\/(json|xml|javascript|x-www-form-urlencoded|yaml|[\w.+-]+\+(json|xml)))/.test(type)
  )
}
