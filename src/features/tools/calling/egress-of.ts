import type { Tool } from '#models/tools/tool.ts'
import { AppError } from '#platform/errors.ts'
import { splitAddress, withoutQuery } from '#platform/outbound/address-template.ts'
import type { JavascriptConfiguration } from '../configuration.ts'
import type { StoredTool } from '../tools.repository.ts'
import { buildHttpRequest } from './build-request.ts'
import { type HttpConfiguration, isImported } from './http-configuration.ts'
import { namesIn } from './placeholders.ts'
import { ownValue, textOf } from './values.ts'

/** The names by which code reaches the network, or makes other code out of its arguments. */
const waysOut = /\b(?:fetch|eval|Function|constructor|globalThis)\b/

/** Returns the egress and the origin of a tool of type `http` or `javascript`. */
export function egressOf({ type, name, configuration }: StoredTool): Pick<Tool, 'egress' | 'origin'> {
  if (type === 'http') return { egress: input => requestOf(configuration as HttpConfiguration, input) }
  const { code } = configuration as JavascriptConfiguration
  if (!waysOut.test(code)) return { origin: 'computed' }
  return { egress: () => ({ to: `the program ${name}`, carries: 'arguments' }) }
}

/** Returns undefined for rejected arguments. */
function requestOf(configuration: HttpConfiguration, input: Record<string, unknown>) {
  try {
    const { url } = buildHttpRequest(configuration, input)
    const pieces = piecesOf(configuration, input, url)
    return { to: withoutQuery(url), carries: 'arguments' as const, pieces }
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** Returns the parts that a model can choose. A path that begins with a placeholder leaves the whole address to the model. */
function piecesOf(configuration: HttpConfiguration, input: Record<string, unknown>, url: string): string[] {
  const path = isImported(configuration) ? '' : (splitAddress(configuration.url)?.path ?? '')
  if (namesIn(path.split('/')[1] ?? '').length > 0) return [url]
  return namesIn(path).map(placeholder => textOf(ownValue(input, placeholder)))
}
