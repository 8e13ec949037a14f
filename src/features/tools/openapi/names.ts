import { cleanLine } from './clean-text.ts'
import { limits } from './limits.ts'

const maxSlugLength = 64

/**
 * Returns the path in letters, digits and underscores: other characters in between become one `_`, and none is left at the
 * ends, so that `/v1/logs/{logId}.json` is `v1_logs_logId_json`. The path `/` is `root`.
 */
export function slugOf(path: string): string {
  const slug = path
    .slice(0, maxSlugLength * 4)
    .replace(/[^A-Za-z\d]+/g, '_')
    .replace(/^_|_$/g, '')
  return slug === '' ? 'root' : slug
}

export interface Names {
  /** Returns the name of the tool; no two calls return the same one. */
  take(operationId: unknown, method: string, path: string): { name: string; warnings: string[] }
}

export function createNames(): Names {
  const taken = new Set<string>()
  const next = new Map<string, number>()

  /** Returns an unused name. Storing the last number keeps many equal names fast. */
  function free(name: string): string {
    if (!taken.has(name)) return name
    for (let number = next.get(name) ?? 2; ; number += 1) {
      const candidate = `${name}_${number}`
      if (taken.has(candidate)) continue
      next.set(name, number + 1)
      return candidate
    }
  }

  return {
    take(operationId, method, path) {
      const bySlug = `${method}_${slugOf(path)}`.slice(0, maxSlugLength)
      const cleaned = typeof operationId === 'string' ? cleanLine(operationId, limits.nameCharacters) : ''
      const isUsable = cleaned !== '' && cleaned !== '__proto__'
      const wanted = isUsable ? cleaned : bySlug
      const name = free(wanted)
      taken.add(name)
      const warnings = []
      if (operationId !== undefined && wanted !== operationId) {
        warnings.push(`Its operationId can't be a name; the tool is called ${JSON.stringify(name)}.`)
      } else if (name !== wanted) {
        warnings.push(
          `Another operation has the name ${JSON.stringify(wanted)}; this one is called ${JSON.stringify(name)}.`,
        )
      }
      return { name, warnings }
    },
  }
}
