/** A QuickJS engine in a WebAssembly module of its own, with a context that has the language and nothing else. */
import { readFile } from 'node:fs/promises'
import variantModule from '@jitl/quickjs-wasmfile-release-sync'
import type { QuickJSContext, QuickJSHandle, QuickJSSyncVariant } from 'quickjs-emscripten-core'
import { newQuickJSWASMModuleFromVariant, newVariant } from 'quickjs-emscripten-core'

/** The part of it that is used: its types exist only in TypeScript's browser library. */
declare const WebAssembly: {
  Memory: new (pages: { initial: number; maximum: number }) => { buffer: ArrayBuffer }
  compile(bytes: Uint8Array): Promise<object>
}

/** In pages of 64 KiB: initially 16 MiB, at most 64 MiB. The engine's own limit would only count large allocations. */
const memoryPages = { initial: 256, maximum: 1024 }
const pageBytes = 64 * 1024

/** With much more, the host's stack would overflow before the engine's. */
const stackBytes = 128 * 1024

/** Between two checks of the clock. */
const jobsAtOnce = 100

/** The package's types describe its CommonJS form, whose default export is one level deeper. */
const variant = variantModule as unknown as QuickJSSyncVariant

const wasmFile = new URL(import.meta.resolve('@jitl/quickjs-wasmfile-release-sync/wasm'))
let compiled: Promise<object> | undefined

export interface VirtualMachine {
  context: QuickJSContext
  /** Everything that code can change. Together with the handles that exist at the time, a copy of it is the engine's whole state. */
  memory(): Uint8Array<ArrayBuffer>
  /** Runs some pending promise jobs; false if there are none. */
  runJobs(): boolean
  isPending(promise: QuickJSHandle): boolean
  /** Whether so much memory is in use that an unexplained failure must be due to the lack of it. */
  isFull(): boolean
}

/** To be dropped after use rather than disposed of, which would abort while promises are pending. */
export async function createVirtualMachine(isInterrupted: () => boolean): Promise<VirtualMachine> {
  compiled ??= readFile(wasmFile).then(bytes => WebAssembly.compile(bytes))
  const wasmMemory = new WebAssembly.Memory(memoryPages)
  const fresh = newVariant(variant, { wasmModule: await compiled, wasmMemory })
  const runtime = (await newQuickJSWASMModuleFromVariant(fresh)).newRuntime()
  runtime.setMaxStackSize(stackBytes)
  runtime.setInterruptHandler(isInterrupted)
  const context = runtime.newContext()
  return {
    context,
    memory: () => new Uint8Array(wasmMemory.buffer),
    isPending: promise => context.getPromiseState(promise).type === 'pending',
    runJobs() {
      // A job has no caller to throw to: at most, the promise that it belongs to is rejected.
      runtime.executePendingJobs(jobsAtOnce)
      return runtime.hasPendingJob()
    },
    isFull: () => wasmMemory.buffer.byteLength > memoryPages.maximum * pageBytes * 0.5,
  }
}
