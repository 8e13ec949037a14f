export type Verdict = 'new' | 'repeated' | 'ended'

/** After this many repeats, more tool calls will not help. */
const repeatsThatEnd = 3

/** The calls that were made, in a form for JSON. */
export interface GuardState {
  made: string[]
  latest: string
  repeats: number
}

export const freshGuard = (): GuardState => ({ made: [], latest: '', repeats: 0 })

/**
 * Detects calls that were already made in the turn: same name, same arguments in any order of keys. For a tool that
 * observes something changing, only an immediate second call is a repeat.
 */
export function createRepeatGuard(state = freshGuard()) {
  return {
    judge(name: string, input: unknown, observesChange = false): Verdict {
      const call = `${name} ${canonical(input)}`
      const wasMade = state.made.includes(call)
      const isRepeat = observesChange ? call === state.latest : wasMade
      if (!wasMade) state.made.push(call)
      state.latest = call
      if (!isRepeat) return 'new'
      state.repeats += 1
      return state.repeats >= repeatsThatEnd ? 'ended' : 'repeated'
    },
  }
}

/** Returns JSON with sorted keys, so that equal values have equal texts. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
