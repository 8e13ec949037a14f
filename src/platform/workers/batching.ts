import { orAborted } from '../or-aborted.ts'
import type { FairSlots } from './fair-slots.ts'

interface Options<Item, Answer> {
  slots: FairSlots
  /** Max items that run together. */
  most: number
  /** Returns the results of items of one owner, in their order; fails if one of them fails. */
  run(owner: string, items: readonly Item[], signal: AbortSignal): Promise<readonly Answer[]>
}

/** Returns the result of an item, or rejects with the signal's reason as soon as that is aborted. */
type Request<Item, Answer> = (owner: string, item: Item, signal: AbortSignal) => Promise<Answer>

interface Member<Item, Answer> {
  item: Item
  signal: AbortSignal
  resolve(answer: Answer): void
  reject(reason: unknown): void
}

/**
 * Runs the requests of an owner together until one of its turns comes: what all need before they begin, and
 * the way to another thread, cost as much for several as for one. If a run of several fails, each runs again
 * alone, so that only the culprit fails. A run ends when all who waited for it have given up.
 */
export function createBatching<Item, Answer>({
  slots,
  most,
  run,
}: Options<Item, Answer>): Request<Item, Answer> {
  /** Waiting items by owner. */
  const waiting = new Map<string, Member<Item, Answer>[]>()

  async function takeTurn(owner: string): Promise<void> {
    const release = await slots.take(owner)
    await runTogether(owner, firstOf(owner))
    release()
  }

  /** Returns the first items that are still wanted; the others get another turn. */
  function firstOf(owner: string): Member<Item, Answer>[] {
    const members = (waiting.get(owner) ?? []).filter(({ signal }) => !signal.aborted)
    const others = members.splice(most)
    waiting.delete(owner)
    if (others.length > 0) {
      waiting.set(owner, others)
      void takeTurn(owner)
    }
    return members
  }

  async function runTogether(owner: string, members: readonly Member<Item, Answer>[]): Promise<void> {
    if (members.length === 0) return
    const items = members.map(({ item }) => item)
    try {
      const answers = await untilAllAborted(members, signal => run(owner, items, signal))
      for (const [place, answer] of answers.entries()) members[place]?.resolve(answer)
    } catch (error) {
      if (members.length === 1) members[0]?.reject(error)
      else for (const member of members) await runTogether(owner, [member])
    }
  }

  return async (owner, item, signal) => {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const member = { item, signal, resolve, reject }
    const others = waiting.get(owner)
    if (others === undefined) {
      waiting.set(owner, [member])
      void takeTurn(owner)
    } else others.push(member)
    return await orAborted(promise, signal)
  }
}

/** Does the work with a signal that is aborted once all members' signals are. */
async function untilAllAborted<Result>(
  members: readonly { signal: AbortSignal }[],
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ending = new AbortController()
  const signals = members.map(({ signal }) => signal)
  const onAbort = () => {
    if (signals.every(({ aborted }) => aborted)) ending.abort(signals[0]?.reason)
  }
  for (const signal of signals) signal.addEventListener('abort', onAbort)
  onAbort()
  try {
    return await work(ending.signal)
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', onAbort)
  }
}
