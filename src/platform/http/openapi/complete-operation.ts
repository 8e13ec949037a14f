/** Parts of an operation that the library leaves out or gets wrong. */
interface Schema {
  properties?: Record<string, Schema>
  required?: string[]
  minProperties?: number
  anyOf?: Schema[]
  examples?: unknown[]
  enum?: unknown[]
  const?: unknown
  type?: unknown
}

interface Parameter {
  in: string
  name: string
  description?: string
  example?: unknown
}

export interface Operation {
  tags?: string[]
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Content }
  responses?: Record<string, { content?: Content }>
  /** The response if it is a stream. */
  'x-event-stream'?: Content[string]
}

type Content = Record<string, { schema: Schema; example?: unknown }>

export function completeOperation(path: string, operation: Operation): void {
  const { parameters = [], requestBody } = operation
  setStreamApart(operation)
  for (const parameter of parameters.filter(({ in: place }) => place === 'path'))
    describePathParameter(path, parameter)
  const body = requestBody?.content['application/json']
  if (requestBody === undefined || body === undefined) return
  body.example ??= exampleOf(body.schema)
  // The library declares every body required; one without required fields is optional.
  const { properties, required, minProperties } = body.schema
  if (properties !== undefined) requestBody.required = required !== undefined || minProperties !== undefined
}

/** Separates the stream: beside a whole response, it would make that type a union in every client. */
function setStreamApart(operation: Operation): void {
  const content = operation.responses?.['200']?.content
  const stream = content?.['text/event-stream']
  if (content?.['application/json'] === undefined || stream === undefined) return
  operation['x-event-stream'] = stream
  delete content['text/event-stream']
}

/** Describes `{messageId}` as the id of a message, and `{id}` by the part before it, as `/agents/{id}`. */
function describePathParameter(path: string, parameter: Parameter): void {
  const { name } = parameter
  const collection = path.split(`/{${name}}`)[0]?.split('/').at(-1) ?? ''
  const whole = name === 'id' ? `${collection.replace(/s$/, '')} id` : name
  const words = whole.replaceAll(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`).split(' ')
  const property = words.pop()
  parameter.description ??=
    words.length === 0 ? `The ${property}.` : `The ${property} of the ${words.join(' ')}.`
}

/** Returns a body with the required fields and no more, which can be sent unchanged. */
function exampleOf(schema: Schema): unknown {
  const { examples, enum: [first] = [], const: only, anyOf, properties = {}, required = [] } = schema
  const example = examples?.[0] ?? only ?? first
  if (example !== undefined) return example
  if (anyOf?.[0] !== undefined) return exampleOf(anyOf[0])
  return Object.fromEntries(required.map(name => [name, exampleOf(properties[name] ?? {})]))
}
