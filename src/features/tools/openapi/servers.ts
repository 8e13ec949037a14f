import { parseTarget } from '#platform/outbound/target-url.ts'
import { ownValue } from '../calling/values.ts'
import { cleanLine } from './clean-text.ts'
import { entriesOf } from './convert-schema.ts'
import { limits } from './limits.ts'

/** The base address, or `problem`: a sentence about why it can't be called. */
export interface Server {
  baseUrl: string
  problem?: string
}

/** Returns the first server of the innermost level with servers; otherwise the document's own origin. */
export function serverOf(levels: readonly unknown[], documentUrl: string | undefined): Server {
  const named = levels
    .map(level => ownValue(level, 'servers'))
    .find(list => Array.isArray(list) && list.length > 0)
  if (named === undefined && documentUrl === undefined) {
    return unusable('', 'the document names no server, and has no address of its own')
  }
  const first = Array.isArray(named) ? named[0] : { url: '/' }
  const address = ownValue(first, 'url')
  if (typeof address !== 'string') return unusable('', 'the first server of the document has no address')
  return absolute(withDefaults(address, ownValue(first, 'variables')), documentUrl)
}

/** Fills in defaults. Variables without one remain. */
function withDefaults(address: string, variables: unknown): string {
  const defaults = new Map<string, string>()
  for (const [name, variable] of entriesOf(variables)) {
    const value = ownValue(variable, 'default')
    if (typeof value === 'string' || typeof value === 'number') defaults.set(name, String(value))
  }
  return address.replace(/\{([^{}]*)\}/g, (whole, name: string) => defaults.get(name) ?? whole)
}

function absolute(address: string, documentUrl: string | undefined): Server {
  const shown = cleanLine(address, limits.pathCharacters)
  const [unset] = /\{[^{}]*\}/.exec(address) ?? []
  if (unset !== undefined)
    return unusable(shown, `the server's address has no value for ${cleanLine(unset, 80)}`)
  const base = documentUrl === undefined ? undefined : parseTarget(documentUrl)
  const target = parseTarget(address, base?.ok ? base.url : undefined)
  if (!target.ok) {
    const isRelative = URL.parse(address) === null && documentUrl === undefined
    return unusable(
      shown,
      isRelative
        ? `the server's address ${JSON.stringify(shown)} is relative, and the document has no address of its own`
        : `the server's address can't be used: ${reasonOf(target.reason)}`,
    )
  }
  return { baseUrl: target.url.origin + target.url.pathname.replace(/\/+$/, '') }
}

/** Returns the reason within the sentence "The address is refused: …." */
function reasonOf(sentence: string): string {
  return sentence.replace(/^[^:]*: /, '').replace(/\.$/, '')
}

function unusable(baseUrl: string, reason: string): Server {
  return { baseUrl, problem: `The tool is disabled: ${reason}. Set its baseUrl and enable it.` }
}
