import { readFileSync } from 'node:fs'

const source = readFileSync(new URL('../../src/config.ts', import.meta.url), 'utf8')

/**
 * The environment variables that `environmentSchema` declares, with their defaults: its source is read, since the schema
 * itself is nobody else's business.
 */
export function declaredVariables(): [name: string, value: string][] {
  const body = /const environmentSchema = Type\.Object\(\{\n(.*?)\n\}\)/s.exec(source)?.[1] ?? ''
  return body
    .split(/^ {2}(?=[A-Z])/m)
    .filter(part => part.trim() !== '')
    .map(part => [part.slice(0, part.indexOf(':')), defaultOf(part)])
}

/** The `default` of an option, the first argument of `whole` or the second one of `oneOf`. */
function defaultOf(declaration: string): string {
  const found =
    /default: '([^']*)'/.exec(declaration) ??
    /whole\(([\d_]+),/.exec(declaration) ??
    /oneOf\(.*, '([^']*)'\)/s.exec(declaration)
  return found?.[1]?.replaceAll('_', '') ?? 'unset'
}
