/** A QuickJS engine in a WebAssembly module of its own, with a context that knows the language and nothing else. */
import { readFile } from 'node:fs/promises'
import variantModule from '@jitl/quickjs-wasmfile-release-sync'
import type { QuickJSContext, QuickJSSyncVariant } from 'quickjs-emscripten-core'
import { newQuickJSWASMModuleFromVariant, newVariant } from 'quickjs-emscripten-core'

/** What we use of it: its types are part of TypeScript's browser library only. */
declare const WebAssembly: {
  Memory: new (pages: { initial: number; maximum: number }) => { buffer: ArrayBuffer }
  compile(bytes: Uint8Array): Promise<object>
}

/** Pages of 64 KiB: 16 MiB at first, 64 MiB at most. The engine's own limit would count large pieces only. */
const memoryPages = { initial: 256, maximum: 1024 }
const pageBytes = 64 * 1024

/** With much more, the host's stack would end before the engine's. */
const stackBytes = 128 * 1024

/** Between two looks at the clock. */
const jobsAtOnce = 100

/** The package's types describe its CommonJS form, whose default export is one level further down. */
const variant = variantModule as unknown as QuickJSSyncVariant

const wasmFile = new URL(import.meta.resolve('@jitl/quickjs-wasmfile-release-sync/wasm'))
let compiled: Promise<object> | undefined

export interface VirtualMachine {
  context: QuickJSContext
  /** Some of what waits to go on after a promise; false when nothing does. */
  runJobs(): boolean
  /** Whether so much memory is taken that a failure without a reason is for the lack of it. */
  isFull(): boolean
}

/** To be dropped after use, not disposed of: that would abort while promises are pending. */
export async function createVirtualMachine(isInterrupted: () => boolean): Promise<VirtualMachine> {
  compiled ??= readFile(wasmFile).then(bytes => WebAssembly.compile(bytes))
  const wasmMemory = new WebAssembly.Memory(memoryPages)
  const fresh = newVariant(variant, { wasmModule: await compiled, wasmMemory })
  const runtime = (await newQuickJSWASMModuleFromVariant(fresh)).newRuntime()
  runtime.setMaxStackSize(stackBytes)
  runtime.setInterruptHandler(isInterrupted)
  return {
    context: runtime.newContext(),
    runJobs() {
      // A job that throws has nobody to throw to: the promise it belongs to is rejected, if anything.
      runtime.executePendingJobs(jobsAtOnce)
      return runtime.hasPendingJob()
    },
    isFull: () => wasmMemory.buffer.byteLength > memoryPages.maximum * pageBytes * 0.5,
  }
}
