import type { Clock } from '#platform/clock.ts'
import { JobYields } from '#platform/jobs/jobs.ts'

const maxSends = 2
/** So that a receiver that has recovered is soon noticed. */
const maxWait = 60_000

interface Receiver {
  sends: number
  /** Of the last start or end of a send. */
  changedAt: number
  /** Until when the last job was sent away. */
  waitUntil: number
}

/** Lets no webhook take more than two of its agent's places in the lane, so that one that never answers delays no other. */
export function createSendLimits(clock: Clock) {
  const receivers = new Map<string, Receiver>()

  /** @throws JobYields if enough sends run; each job for a later time, by how long these have taken. */
  return async <Result>(webhookId: string, send: () => Promise<Result>): Promise<Result> => {
    const now = clock.now()
    const receiver = receivers.get(webhookId) ?? { sends: 0, changedAt: now, waitUntil: now }
    if (receiver.sends === maxSends) {
      const turn = Math.max(receiver.waitUntil, now) + (now - receiver.changedAt) / maxSends
      receiver.waitUntil = Math.min(turn, now + maxWait)
      throw new JobYields({ until: receiver.waitUntil })
    }
    receivers.set(webhookId, receiver)
    receiver.sends += 1
    receiver.changedAt = now
    try {
      return await send()
    } finally {
      receiver.sends -= 1
      receiver.changedAt = clock.now()
      if (receiver.sends === 0) receivers.delete(webhookId)
    }
  }
}
