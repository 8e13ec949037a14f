/** Reports changes of agents to clients that follow them, from all processes that share the data. */
import { type Clock, timestamp } from './clock.ts'

export interface Change {
  /** The resource, by the name of its path. */
  type: string
  /** Absent if any resource of the type might have changed. */
  id?: string
}

interface Entry extends Change {
  at: string
  sequence: number
}

/** One client's place in the changes of an agent. */
export interface Follower {
  /** Returns the changes since the last call, or `missed` if there might have been others. */
  take(): readonly (Change & { at: string })[] | 'missed'
  /** Returns the place from which `follow` continues behind the taken changes. */
  place(): string
  /** Resolves once there is something to take. */
  changed(): Promise<void>
  end(): void
}

/** A message between the processes. */
interface Message {
  from: string
  agentId: string
  /** Absent if the sender wants to receive the agent's changes. */
  changes?: Change[]
  /** A call for listeners, instead of changes. */
  call?: string
}

interface Room {
  /** The last change of each resource by type and id, in order. */
  entries: Map<string, Entry>
  /** Changes up to this sequence are incomplete. */
  forgotten: number
  newest: number
  followers: number
  waiting: Set<() => void>
  timer: NodeJS.Timeout | undefined
}

const maxEntries = 1_000
/** Max pending changes between flushes; beyond it, changes of a type are not distinguished. */
const maxPending = 200
/** Wait for further changes before a flush (ms), so that a burst costs little. */
const flushMs = 50
/** Time that changes are kept for a client that returns (ms). */
const keptMs = 300_000
/** Milliseconds. */
const announceMs = 30_000
/** Max changes of a message: the payload of a notification has up to 8,000 bytes. */
const changesPerMessage = 40

/** Keeps and sends nothing of an agent without followers. */
export class ChangeFeed {
  readonly #clock: Clock
  readonly #instanceId: string
  readonly #rooms = new Map<string, Room>()
  readonly #pending = new Map<string, Map<string, Change>>()
  /** The end of other processes' interest in an agent. */
  readonly #wanted = new Map<string, number>()
  readonly #listeners = new Set<(call: string) => void>()
  #sequence = 0
  #send: (message: Message) => void = () => {}

  constructor({ clock, instanceId }: { clock: Clock; instanceId: string }) {
    this.#clock = clock
    this.#instanceId = instanceId
  }

  isFollowed(agentId: string): boolean {
    return this.#rooms.has(agentId) || this.#wanted.has(agentId)
  }

  /** Call it after a commit. */
  report(agentId: string, change: Change): void {
    const known = this.#pending.get(agentId)
    const pending = known ?? new Map<string, Change>()
    const keptChange = pending.size < maxPending ? change : { type: change.type }
    pending.set(keyOf(keptChange), keptChange)
    if (known !== undefined) return
    this.#pending.set(agentId, pending)
    setTimeout(() => this.#flush(agentId), flushMs).unref()
  }

  /** @param place the place of an earlier follower, behind which this one continues. */
  follow(agentId: string, place?: string): Follower {
    const room = this.#enter(agentId)
    const [origin, number] = place?.split('.') ?? []
    let at = place === undefined ? this.#sequence : origin === this.#instanceId ? Number(number) : -1
    let waiting: Promise<void> | undefined
    const isComplete = () => at >= room.forgotten && at <= this.#sequence
    const leave = once(() => this.#leave(agentId, room))
    return {
      take: () => {
        const entries = [...room.entries.values()].filter(entry => entry.sequence > at)
        const result = isComplete() ? entries : ('missed' as const)
        at = this.#sequence
        return result
      },
      place: () => `${this.#instanceId}.${at}`,
      changed() {
        if (at < room.newest) return Promise.resolve()
        waiting ??= new Promise<void>(resolve => room.waiting.add(resolve)).then(() => {
          waiting = undefined
        })
        return waiting
      },
      end: leave,
    }
  }

  /** Calls the listeners of all other processes; the call is lost for those that can't be reached now. */
  call(agentId: string, call: string): void {
    this.#send({ from: this.#instanceId, agentId, call })
  }

  onCall(listener: (call: string) => void): void {
    this.#listeners.add(listener)
  }

  /** Connects the processes: `send` gives a message to all of them. */
  carry(send: (message: Message) => void): void {
    this.#send = send
  }

  receive({ from, agentId, changes, call }: Message): void {
    if (from === this.#instanceId) return
    if (call !== undefined) for (const listen of this.#listeners) listen(call)
    else if (changes === undefined) this.#wanted.set(agentId, this.#clock.now() + 3 * announceMs)
    else this.#add(agentId, changes)
  }

  /** Handles a break in which messages of others might have been lost. */
  interrupted(): void {
    this.#sequence += 1
    for (const room of this.#rooms.values()) {
      room.forgotten = this.#sequence
      room.entries.clear()
      wake(room, this.#sequence)
    }
  }

  #add(agentId: string, changes: readonly Change[]): void {
    const room = this.#rooms.get(agentId)
    if (room === undefined) return
    for (const change of changes) {
      this.#sequence += 1
      const key = keyOf(change)
      room.entries.delete(key)
      room.entries.set(key, { ...change, at: timestamp(this.#clock), sequence: this.#sequence })
    }
    for (const [key, entry] of room.entries) {
      if (room.entries.size <= maxEntries) break
      room.entries.delete(key)
      room.forgotten = entry.sequence
    }
    wake(room, this.#sequence)
  }

  #flush(agentId: string): void {
    const changes = [...(this.#pending.get(agentId)?.values() ?? [])]
    this.#pending.delete(agentId)
    this.#add(agentId, changes)
    if ((this.#wanted.get(agentId) ?? 0) <= this.#clock.now()) this.#wanted.delete(agentId)
    else
      for (let at = 0; at < changes.length; at += changesPerMessage)
        this.#send({ from: this.#instanceId, agentId, changes: changes.slice(at, at + changesPerMessage) })
  }

  #enter(agentId: string): Room {
    const at = this.#sequence
    const empty = {
      entries: new Map(),
      forgotten: at,
      newest: at,
      followers: 0,
      waiting: new Set<() => void>(),
    }
    const room: Room = this.#rooms.get(agentId) ?? { ...empty, timer: undefined }
    this.#rooms.set(agentId, room)
    room.followers += 1
    if (room.followers > 1) return room
    clearTimeout(room.timer)
    const announce = () => this.#send({ from: this.#instanceId, agentId })
    announce()
    room.timer = setInterval(announce, announceMs).unref()
    return room
  }

  #leave(agentId: string, room: Room): void {
    room.followers -= 1
    if (room.followers > 0) return
    clearInterval(room.timer)
    room.timer = setTimeout(() => this.#rooms.delete(agentId), keptMs).unref()
  }
}

function keyOf({ type, id }: Change): string {
  return id === undefined ? type : `${type} ${id}`
}

function wake(room: Room, newest: number): void {
  room.newest = newest
  const woken = [...room.waiting]
  room.waiting.clear()
  for (const resolve of woken) resolve()
}

function once(work: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) work()
    isDone = true
  }
}
