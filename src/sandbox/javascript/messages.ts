/** The messages between the main thread and the thread of a run. */
import type { MessagePort } from 'node:worker_threads'
import type { RunLimits } from './limits.ts'
import type { ConsoleLine } from './outcome.ts'
import type { Pulse } from './pulse.ts'

export interface RunTask {
  port: MessagePort
  code: string
  argumentJson: string
  limits: RunLimits
  pulse: Pulse
  /** True if the code is compiled and not run. */
  onlyCompiles: boolean
}

export interface SandboxRequest {
  url: string
  method: string
  headers: [name: string, value: string][]
  body: string | null
}

export interface SandboxAnswer {
  status: number
  url: string
  headers: [name: string, value: string][]
  text: string
  /** JSON if it differs from the text: with texts instead of numbers that the code can't hold. */
  json?: string
}

/** A success, or a sentence with the reason of a failure. */
export type Answer<Value> = [ok: true, value: Value] | [ok: false, message: string]

export type ToMain =
  | { kind: 'console'; line: ConsoleLine }
  | { kind: 'request'; id: number; request: SandboxRequest }

export interface ToThread {
  id: number
  answer: Answer<SandboxAnswer>
}
