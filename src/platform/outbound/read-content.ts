import { isUtf8 } from 'node:buffer'
import { parseJson } from '../exact-json.ts'
import { createSecretFilter } from './hide-secrets.ts'
import type { OutboundResponse } from './outbound.ts'

/** Returns a body for a model or workflow: parsed if it is JSON, without secrets, named if it is no text. */
export function readContent(
  answer: Pick<OutboundResponse, 'headers' | 'body' | 'text'>,
  secrets: readonly string[],
): unknown {
  const type = (answer.headers.get('content-type') ?? '').toLowerCase().split(';')[0]?.trim() ?? ''
  if (answer.body.length === 0) return ''
  if (!isText(answer, type))
    return `${answer.body.length} bytes of ${type === '' ? 'unknown type' : type}, which are not text.`
  const withoutSecrets = createSecretFilter(secrets)
  const text = withoutSecrets(answer.text())
  if (!/[/+]json$/.test(type)) return text
  try {
    // Normalises the service's escapes to ours, so that secrets are recognised.
    const content = parseJson(text)
    const rewritten = JSON.stringify(content)
    const hidden = withoutSecrets(rewritten)
    return hidden === rewritten ? content : parseJson(hidden)
  } catch {
    // The text is no JSON, or nested too deeply to be serialised.
    return text
  }
}

/** Returns true if a media type is one of texts, by its name or its suffix. */
export function isTextual(mediaType: string): boolean {
  const [type = ''] = mediaType.trim().toLowerCase().split(';')
  return /^text\/|[/+.-](json|xml|yaml|csv|javascript|ecmascript|graphql|sql|toml|x-www-form-urlencoded|(nd|geo)?json(l|-seq|lines)?)$/.test(
    type.trim(),
  )
}

/** Types that are never texts, even if their bytes look so. */
const binary = /^(image|audio|video|font)\/|^application\/(pdf|zip|gzip|x-tar|vnd\.openxmlformats)/

/** Returns true for a text, by its type, its charset, else by its bytes. */
function isText({ headers, body }: Pick<OutboundResponse, 'headers' | 'body'>, type: string): boolean {
  if (isTextual(type) || /;\s*charset=/i.test(headers.get('content-type') ?? '')) return true
  return !binary.test(type) && isUtf8(body) && !body.some(byte => byte < 9 || (byte > 13 && byte < 27))
}
