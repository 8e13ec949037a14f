export type Verdict = 'new' | 'repeated' | 'ended'

/** With this many repeats a turn has shown that it gets no further by calling tools. */
const repeatsThatEnd = 3

/**
 * Recognises calls that were made before in the same turn: same name, same arguments in any order of keys.
 * A call of a tool that observes something changing repeats only if it is the very next call.
 */
export function createRepeatGuard() {
  const made = new Set<string>()
  let latest = ''
  let repeats = 0
  return {
    judge(name: string, input: unknown, observesChange = false): Verdict {
      const call = `${name} ${canonical(input)}`
      const isRepeat = observesChange ? call === latest : made.has(call)
      made.add(call)
      latest = call
      if (!isRepeat) return 'new'
      repeats += 1
      return repeats >= repeatsThatEnd ? 'ended' : 'repeated'
    },
  }
}

/** JSON with sorted keys, so that equal values have equal texts. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
