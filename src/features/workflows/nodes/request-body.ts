/** Bodies of requests: values are escaped for the content type, so that none changes the text around it. */
import { invalid } from '#platform/errors.ts'
import {
  encodeFields,
  fieldText,
  fieldTexts,
  formKindOf,
  multipartTextProblem,
} from '#platform/outbound/form-body.ts'
import type { EncodedBody } from '#platform/outbound/multipart.ts'
import { encodeValue } from '#platform/outbound/percent-encoding.ts'
import { splitTemplates, type Templates } from '#platform/templates/resolve-templates.ts'

/** Returns the problem of a written body that can't be sent under a content type. */
export function writtenBodyProblem(body: unknown, contentType: string): string | undefined {
  if (typeof body !== 'string' || isTemplate(body)) return undefined
  return multipartTextProblem(contentType, hasTemplate(body))
}

/** Returns undefined for no body. */
export async function encodeRequestBody(
  written: unknown,
  givenType: string | undefined,
  templates: Templates,
): Promise<EncodedBody | undefined> {
  if (typeof written === 'string' && written !== '' && !isTemplate(written))
    return await encodeText(written, givenType, templates)
  const body = (await templates.resolve(written)) ?? ''
  if (body === '') return undefined
  if (typeof body === 'string') return wholeText(body, givenType)
  return (
    encodeFields(body, givenType ?? '') ?? {
      contentType: givenType ?? 'application/json',
      body: JSON.stringify(body),
    }
  )
}

const plainText = 'text/plain; charset=utf-8'

function wholeText(body: string, contentType = plainText): EncodedBody {
  const problem = multipartTextProblem(contentType, true)
  if (problem !== undefined) throw invalid('body', problem)
  const isValue = /[/+]json\s*(?:;|$)/i.test(contentType)
  return { contentType, body: isValue && !isJsonText(body) ? JSON.stringify(body) : body }
}

async function encodeText(text: string, contentType = plainText, templates: Templates): Promise<EncodedBody> {
  const problem = multipartTextProblem(contentType, hasTemplate(text))
  if (problem !== undefined) throw invalid('body', problem)
  // Lines of JSON, such as `application/x-ndjson`, are escaped like one value.
  if (/json/i.test(contentType) || (contentType === plainText && isJsonText(text)))
    return { contentType, body: await templates.fillJson(text) }
  const isForm = formKindOf(contentType) === 'urlencoded'
  return { contentType, body: await (isForm ? fillForm(text, templates) : templates.fill(text)) }
}

/** Returns true for a text that is one template, which can have a value of any type. */
function isTemplate(text: string): boolean {
  const { texts, paths } = splitTemplates(text)
  return paths.length === 1 && texts.join('') === ''
}

function hasTemplate(text: string): boolean {
  return splitTemplates(text).paths.length > 0
}

/** Returns true if the text is JSON when values replace its templates. */
function isJsonText(text: string): boolean {
  try {
    JSON.parse(splitTemplates(text, true).texts.join('0'))
    return true
  } catch {
    return false
  }
}

/** Fills a form. A template that is the whole value of a field can be a list. */
async function fillForm(text: string, templates: Templates): Promise<string> {
  const pairs: string[] = []
  for (const pair of text.match(/(?:\{\{[^{}]*\}\}|[^&])+/g) ?? []) {
    const name = pair.slice(0, pair.indexOf('=') + 1)
    const value = pair.slice(name.length)
    const field = name.slice(0, -1)
    const fill = (part: string) => templates.fill(part, one => encodeValue(fieldText(field, one)))
    if (name === '' || !isTemplate(value)) pairs.push(await fill(pair))
    else {
      const [filled, list] = [await fill(name), await templates.resolve(value)]
      pairs.push(...fieldTexts(field, list).map(one => filled + encodeValue(one)))
    }
  }
  return pairs.join('&')
}
