import type { Answer } from '../build-app.ts'
import type { Description, Operation, Schema } from './description.ts'

/**
 * Failures of what the service depends on, and of statements that a caller sends; whatever else is 5xx is a defect. The API for
 * clients of OpenAI writes them in small letters.
 */
const documentedFailures = ['SQL_FAILED', 'SQL_UNAVAILABLE', 'MODEL_ERROR', 'OUTBOUND_FAILED']

/** What is wrong with an answer, by the document that describes it; undefined if nothing is. */
export function faultOf(
  { problemOf }: Description,
  operation: Operation,
  { status, headers, body }: Answer,
): string | undefined {
  const described = operation.responses[status] ?? operation.responses[`${String(status)[0]}XX`]
  if (described === undefined) return `the status ${status} is not described`
  const told = typeof body === 'string' ? body : JSON.stringify(body)
  if (status >= 500 && !documentedFailures.some(code => told.toUpperCase().includes(`"${code}"`)))
    return 'it failed'
  if (/node_modules|\.ts:\d+|Error: /.test(told)) return 'it tells of the code'
  if (headers['x-request-id'] === undefined) return 'it has no request id'
  const type = String(headers['content-type'] ?? '').split(';')[0] ?? ''
  const stream = operation['x-event-stream']
  if (type === 'text/event-stream' && stream !== undefined)
    return eventsOf(told)
      .map(event => problemOf(stream.schema, event))
      .find(problem => problem !== undefined)
  return faultOfBody(problemOf, described.content, type, body)
}

function faultOfBody(
  problemOf: Description['problemOf'],
  content: Record<string, { schema: Schema }> | undefined,
  type: string,
  body: unknown,
): string | undefined {
  if (content === undefined) return body === '' ? undefined : 'no content is described'
  const media = content[type]
  return media === undefined ? `the type ${type} is not described` : problemOf(media.schema, body)
}

function eventsOf(text: string): unknown[] {
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))
}
