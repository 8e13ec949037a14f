import { isDotSegment } from '#platform/outbound/percent-encoding.ts'
import type { ImportedConfiguration, Method, SecurityScheme } from '../calling/http-configuration.ts'
import { namesInPath } from '../calling/path-template.ts'
import { type JsonRecord, ownValue } from '../calling/values.ts'
import { describeArguments, type Effort, nameArguments, placementOf, requestBodyOf } from './arguments.ts'
import { cleanLine, cleanText, isCleanName } from './clean-text.ts'
import type { ImportedOperation } from './imported-document.ts'
import { limits } from './limits.ts'
import { type Parameter, readParameters } from './parameters.ts'
import type { References } from './references.ts'
import { readRequestBody } from './request-body.ts'
import type { Security } from './security.ts'
import { serverOf } from './servers.ts'

export interface ReadContext {
  document: JsonRecord
  documentUrl: string | undefined
  references: References
  security: Security
  effort: Effort
}

interface FoundOperation {
  /** The method as in the document, in lower case. */
  method: string
  path: string
  operation: JsonRecord
  item: JsonRecord
}

export type ReadOperation =
  | { ok: true; tool: Omit<ImportedOperation, 'name'>; warnings: string[] }
  /** `reason` is a clause. */
  | { ok: false; reason: string }

export function readOperation(context: ReadContext, found: FoundOperation): ReadOperation {
  const { path, operation, item } = found
  const method = found.method.toUpperCase() as Method
  const unusable = pathProblem(path)
  if (unusable !== undefined) return { ok: false, reason: unusable }
  const { references } = context
  const levels = { path: ownValue(item, 'parameters'), operation: ownValue(operation, 'parameters') }
  const read = readParameters(references, levels, path)
  if (read.fault !== undefined) return { ok: false, reason: read.fault }
  const body = readRequestBody(references, ownValue(operation, 'requestBody'), method)
  if (body.fault !== undefined) return { ok: false, reason: body.fault }
  const security = context.security.requirementsOf(operation)
  const parts = nameArguments(withoutSecrets(read.parameters, security.alternatives), body.body)
  const words = wordsOf(operation, item, `${method} ${path}`)
  const described = describeArguments(references, parts, words.details, context.effort)
  if (!described.ok) return described
  const server = serverOf([operation, item, context.document], context.documentUrl)
  const requestBody = requestBodyOf(parts)
  const configuration: ImportedConfiguration = {
    baseUrl: server.baseUrl,
    pathTemplate: path,
    method,
    pathParams: namesAt('path', read.parameters),
    queryParams: namesAt('query', read.parameters),
    parameters: described.schema,
    placement: placementOf(parts),
    ...(requestBody === undefined ? {} : { requestBody }),
    ...(security.alternatives.length === 0 ? {} : { security: security.alternatives }),
  }
  const disabled = [
    ...(server.problem === undefined ? [] : [server.problem]),
    ...(method === 'TRACE' ? ['The tool is disabled: requests with TRACE are not sent.'] : []),
  ]
  const warnings = [
    ...disabled,
    ...read.warnings,
    ...body.warnings,
    ...security.warnings,
    ...described.warnings,
  ]
  return {
    ok: true,
    tool: { description: words.description, isEnabled: disabled.length === 0, configuration },
    warnings,
  }
}

function pathProblem(path: string): string | undefined {
  if (path.length > limits.pathCharacters)
    return `its path is longer than ${limits.pathCharacters} characters`
  if (!isCleanName(path)) return "its path holds characters that can't be sent"
  if (path.split(/[/?#]/).some(isDotSegment)) return 'its path holds "." or ".." as a part'
  if (namesInPath(path).some(name => name.length > limits.nameCharacters)) {
    return 'a parameter of its path has too long a name'
  }
  return undefined
}

function namesAt(place: Parameter['in'], parameters: readonly Parameter[]): string[] {
  return parameters.filter(one => one.in === place).map(({ name }) => name)
}

/** Makes arguments optional that credentials fill in: the model can pass a value if no credential is set. */
function withoutSecrets(
  parameters: readonly Parameter[],
  alternatives: readonly SecurityScheme[][],
): Parameter[] {
  const keys = alternatives.flat().filter(({ type }) => type === 'apiKey')
  const isKey = (parameter: Parameter) =>
    keys.some(key => key.in === parameter.in && key.name?.toLowerCase() === parameter.name.toLowerCase())
  return parameters.map(parameter =>
    parameter.in !== 'path' && isKey(parameter) ? { ...parameter, required: false } : parameter,
  )
}

interface Words {
  /** The shorter text if there are two. */
  description: string
  /** The longer text, described with the arguments. */
  details: string | undefined
}

function wordsOf(operation: JsonRecord, item: JsonRecord, fallback: string): Words {
  const text = (source: JsonRecord, name: string) => {
    const value = ownValue(source, name)
    return typeof value === 'string' ? cleanText(value, limits.descriptionCharacters) : ''
  }
  const summary = text(operation, 'summary') || text(item, 'summary')
  const description = text(operation, 'description') || text(item, 'description')
  const first = summary || description || cleanLine(fallback, limits.descriptionCharacters)
  return {
    description: first,
    details: description === first || description === '' ? undefined : description,
  }
}
