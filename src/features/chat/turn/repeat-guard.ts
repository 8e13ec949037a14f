export type Verdict = 'new' | 'repeated' | 'ended'

/** After this many repeats it is clear that calling tools leads no further. */
const repeatsThatEnd = 3

/**
 * Recognises calls that were already made in the turn: same name, same arguments in any order of keys. For a tool that
 * observes something changing, only an immediate second call is a repeat.
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
