/** Functions missing in the language, for sandboxed code: from JSON to JSON, without knowledge of a run. */
import { bounds } from './limits.ts'
import type { JsonValue } from './outcome.ts'

export type HostFunction = (...values: unknown[]) => JsonValue

export const hostFunctions: Record<string, HostFunction> = {
  parseUrl: (text, base) => partsOf(new URL(textOf(text), base === null ? undefined : textOf(base))),
  changeUrl(href, part, text) {
    const url = new URL(textOf(href))
    const name = urlParts.find(one => one === part)
    if (name !== undefined && name !== 'origin') url[name] = textOf(text)
    return partsOf(url)
  },
  parseQuery: text => [...new URLSearchParams(textOf(text))],
  formatQuery: pairs => new URLSearchParams(pairsOf(pairs)).toString(),
  encodeBase64: text => btoa(textOf(text)),
  decodeBase64: text => atob(textOf(text)),
  /** Bytes cross the boundary as text, one character each. */
  encodeUtf8: text => Buffer.from(textOf(text), 'utf8').toString('latin1'),
  decodeUtf8: text => new TextDecoder().decode(Buffer.from(textOf(text), 'latin1')),
  randomUuid: () => crypto.randomUUID(),
}

const urlParts = [
  'href',
  'origin',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const

function partsOf(url: URL): JsonValue {
  return Object.fromEntries(urlParts.map(part => [part, url[part]]))
}

export function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('This must be a string.')
  if (value.length > bounds.hostCallCharacters) {
    throw new TypeError(`This text is longer than ${bounds.hostCallCharacters} characters.`)
  }
  return value
}

export function numberOf(value: unknown): number {
  if (typeof value !== 'number') throw new TypeError('This must be a number.')
  return value
}

export function pairsOf(value: unknown): [string, string][] {
  if (!Array.isArray(value)) throw new TypeError('This must be a list of names and values.')
  return value.map(pair => [textOf(pair?.[0]), textOf(pair?.[1])])
}
