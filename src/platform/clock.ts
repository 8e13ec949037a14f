/** The time as an argument, so that tests decide what "now" is. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** Returns ISO 8601 in UTC with milliseconds, the only form in which the service stores and sends times. */
export function timestamp(clock: Clock): string {
  return new Date(clock.now()).toISOString()
}
