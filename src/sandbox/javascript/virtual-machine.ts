/** A QuickJS engine in a WebAssembly module of its own, with a context that has the language and nothing else. */
import { readFile } from 'node:fs/promises'
import variantModule from '@jitl/quickjs-wasmfile-release-sync'
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSSyncVariant,
} from 'quickjs-emscripten-core'

/** The used part of WebAssembly, whose types exist only in TypeScript's browser library. */
declare const WebAssembly: {
  Memory: new (pages: { initial: number; maximum: number }) => { buffer: ArrayBuffer }
  compile(bytes: Uint8Array): Promise<object>
}

/** Pages of 64 KiB: initially 16 MiB, at most 64. The engine's own limit only counts large allocations. */
const memoryPages = { initial: 256, maximum: 1024 }
const pageBytes = 64 * 1024

/** Max stack: with much more, the host's stack would overflow before the engine's. */
const stackBytes = 128 * 1024

/** Max jobs between two checks of the clock. */
const jobsAtOnce = 100

/** The package's types describe its CommonJS form, whose default export is one level deeper. */
const variant = variantModule as unknown as QuickJSSyncVariant

const wasmFile = new URL(import.meta.resolve('@jitl/quickjs-wasmfile-release-sync/wasm'))
let compiled: Promise<object> | undefined

export interface VirtualMachine {
  context: QuickJSContext
  /** Returns all that code can change. With the current handles, a copy of it is the engine's whole state. */
  memory(): Uint8Array<ArrayBuffer>
  /** Runs some pending promise jobs; false if there are none. */
  runJobs(): boolean
  isPending(promise: QuickJSHandle): boolean
  /** Returns true if so much memory is in use that an unexplained failure must be due to its lack. */
  isFull(): boolean
}

/** Creates a machine. Drop it after use, because disposing would abort while promises are pending. */
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
      // A job has no caller to throw to: at most, its promise is rejected.
      runtime.executePendingJobs(jobsAtOnce)
      return runtime.hasPendingJob()
    },
    isFull: () => wasmMemory.buffer.byteLength > memoryPages.maximum * pageBytes * 0.5,
  }
}
