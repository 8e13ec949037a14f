/**
 * Reuses engines. An engine is prepared once in its thread; every run begins from the image of its memory,
 * and leaves zeros. So no run finds data of an earlier one, not even in free memory.
 */
import type { QuickJSHandle } from 'quickjs-emscripten-core'
import { type Inside, prepareInside } from './inside.ts'
import { clear, type MemoryImage, takeImage } from './memory-image.ts'
import { createVirtualMachine } from './virtual-machine.ts'

/** The run that an engine works for. */
export interface Connection {
  /** Called with a name and JSON; must not throw; returns JSON. */
  host(name: string, json: string): string
  isInterrupted(): boolean
}

export interface Engine extends Inside {
  /** Runs some pending promise jobs; returns false if there are none. */
  runJobs(): boolean
  /** Returns true if so much memory is in use that an unexplained failure must be due to its lack. */
  isFull(): boolean
  isPending(promise: QuickJSHandle): boolean
  /**
   * Ends the run's use of the engine, while no code runs in it. It serves another run only if it is sound: no
   * exception left it, and none of its limits was met.
   */
  release(isSound: boolean): void
}

interface IdleEngine {
  connect(connection: Connection): Engine
}

interface Prepared {
  image: MemoryImage
  /** Address of the state of `Math.random`; undefined if unknown, and then no engine is reused. */
  seedAddress: number | undefined
}

/** The idle engine of this thread, which has one run at a time. Its memory holds zeros. */
let idle: IdleEngine | undefined

/** The first engine's image in this thread. The same steps leave the same memory, except for the seed. */
let prepared: Prepared | undefined

export async function takeEngine(connection: Connection): Promise<Engine> {
  const taken = idle ?? (await prepareEngine())
  idle = undefined
  return taken.connect(connection)
}

async function prepareEngine(): Promise<IdleEngine> {
  let connection: Connection | undefined
  const begun = Date.now()
  const machine = await createVirtualMachine(() => connection?.isInterrupted() ?? false)
  const inside = prepareInside(machine.context, (name, json) => {
    if (connection === undefined) throw new Error('An engine without a run called its host.')
    return connection.host(name, json)
  })
  const memory = machine.memory()
  prepared ??= describePrepared(memory, begun)
  const { image, seedAddress } = prepared
  let isFresh = true

  const self: IdleEngine = {
    connect(given) {
      if (!isFresh) image.restore(memory)
      isFresh = false
      // The engine itself draws a seed only once, so that all runs would have the same numbers.
      if (seedAddress !== undefined) crypto.getRandomValues(memory.subarray(seedAddress, seedAddress + 8))
      connection = given
      const { runJobs, isFull, isPending } = machine
      return { ...inside, runJobs, isFull, isPending, release }
    },
  }

  function release(isSound: boolean): void {
    connection = undefined
    // Memory that grew is another buffer, and could not shrink.
    const hasGrown = machine.memory().buffer !== memory.buffer
    if (!isSound || hasGrown || seedAddress === undefined) return
    clear(memory)
    idle = self
  }

  return self
}

/** Finds the seed, which is the time in microseconds at which the engine's context was made. */
function describePrepared(memory: Uint8Array, begun: number): Prepared {
  const image = takeImage(memory)
  const addresses = image.find(begun * 1000, Date.now() * 1000)
  return { image, seedAddress: addresses.length === 1 ? addresses[0] : undefined }
}
