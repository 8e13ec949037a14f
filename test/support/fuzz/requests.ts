import type { CallOptions } from '../build-app.ts'
import { formOf } from '../upload.ts'
import type { Operation } from './description.ts'
import type { KnownIds } from './known-ids.ts'
import { fitting, localized, type Material, oddValues, spoiled } from './values.ts'

export interface FuzzedRequest {
  path: string
  agentId: string
  options: CallOptions
}

/** How many of the requests have something wrong on purpose. */
const shareSpoiled = 0.3

/** A request for the operation: most fit what is described, so that they get past its checks. */
export async function requestFor(
  material: Material,
  known: KnownIds,
  operation: Operation,
): Promise<FuzzedRequest> {
  const { random } = material
  const agentId = known.pickAgent()
  const own = { ...material, idFor: (name: string) => known.pick(name, agentId) }
  const isSpoiled = random.next() < shareSpoiled
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    // No route has longer segments, so that none is there to say in which shape it refuses.
    if (isSpoiled && random.next() < 0.2)
      return encodeURIComponent(textOf(random.pick(oddValues)).slice(0, 100))
    return encodeURIComponent((name === 'id' ? agentId : own.idFor(name)) ?? 'none')
  })
  const query = queryOf(own, operation, isSpoiled)
  const options = await bodyOf(own, operation, isSpoiled)
  const accept = 'application/json, text/event-stream'
  return { path: path + query, agentId, options: { ...options, headers: { accept, ...options.headers } } }
}

function queryOf(material: Material, { parameters = [], path }: Operation, isSpoiled: boolean): string {
  const { random } = material
  const query = new URLSearchParams()
  for (const { in: place, name, required, schema } of parameters) {
    if (place !== 'query' || (!required && random.next() < 0.85)) continue
    // Some are deleted by an id in the query, which is that of what the path names.
    const noun = path.endsWith('/mcp') ? 'serverId' : 'toolId'
    const id = name === 'id' ? material.idFor(noun) : undefined
    const value =
      isSpoiled && random.next() < 0.5 ? random.pick(oddValues) : (id ?? fitting(material, schema, name))
    for (const one of [value].flat()) query.append(name, textOf(one))
  }
  return query.size === 0 ? '' : `?${query}`
}

async function bodyOf(
  material: Material,
  { requestBody }: Operation,
  isSpoiled: boolean,
): Promise<CallOptions> {
  if (requestBody === undefined) return {}
  const { random } = material
  const [type, media] = random.pick(Object.entries(requestBody.content))
  const isExample = media.example !== undefined && random.next() < 0.3
  const body = isExample ? localized(material, media.example) : fitting(material, media.schema)
  if (type === 'multipart/form-data') return formOfFields(body, isSpoiled)
  const sent = isSpoiled ? spoiled(material, body) : body
  if (isSpoiled && random.next() < 0.1)
    return { payload: JSON.stringify(sent).slice(0, -1), headers: { 'content-type': 'application/json' } }
  return { payload: JSON.stringify(sent), headers: { 'content-type': 'application/json' } }
}

/** A form with a file, or without what it is about. */
function formOfFields(body: unknown, isSpoiled: boolean): Promise<CallOptions> {
  const fields = Object.entries(body as object)
    .filter(([name]) => name !== 'file')
    .map(([name, value]): [string, string | File] => [name, textOf(value)])
  const file = new File(['The harbour closes its gates at 340 centimetres.'], 'harbour.txt')
  return formOf(isSpoiled ? fields : [...fields, ['file', file]])
}

function textOf(value: unknown): string {
  return (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed()
}
