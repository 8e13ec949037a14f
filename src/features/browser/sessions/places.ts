import { AppError } from '#platform/errors.ts'

interface Limits {
  maxSessions: number
  maxSessionsPerAgent: number
}

/** Counts the open sessions of this process, and those that are being opened. */
export function createPlaces({ maxSessions, maxSessionsPerAgent }: Limits) {
  /** The agent of each place. */
  const taken: string[] = []

  return {
    /** Takes a place for a session; the returned function frees it. @throws AppError TOO_MANY_SESSIONS */
    take(agentId: string): () => void {
      const ofAgent = taken.filter(other => other === agentId).length
      if (ofAgent >= maxSessionsPerAgent) throw tooMany('This agent', maxSessionsPerAgent)
      if (taken.length >= maxSessions) throw tooMany('This server', maxSessions)
      taken.push(agentId)
      let held = true
      return () => {
        if (held) taken.splice(taken.indexOf(agentId), 1)
        held = false
      }
    },
  }
}

export type Places = ReturnType<typeof createPlaces>

function tooMany(whose: string, limit: number): AppError {
  return new AppError(
    'TOO_MANY_SESSIONS',
    `${whose} has ${limit} open browser sessions, and may have no more. End one of them, or wait: a session ends by itself when nobody has used it for 10 minutes.`,
  )
}
