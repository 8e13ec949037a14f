/** What a run may use up. Times are in milliseconds. */
export interface RunLimits {
  /** Processor time of the run's thread. */
  cpuMs: number
  /** From the run's start (not from its queueing) to its end, waiting for answers included. */
  wallMs: number
  /** Length of the returned value as JSON, in characters. */
  resultCharacters: number
  /** Requests in all; those beyond `parallelRequests` wait for their turn. */
  requests: number
  parallelRequests: number
  /** Body of one answer, in bytes. */
  answerBytes: number
}

export const defaultLimits: Readonly<RunLimits> = {
  cpuMs: 5000,
  wallMs: 30_000,
  resultCharacters: 1_000_000,
  requests: 50,
  parallelRequests: 6,
  answerBytes: 5_000_000,
}

/** Bounds that no caller has a reason to change. */
export const bounds = {
  codeCharacters: 1_000_000,
  argumentCharacters: 5_000_000,
  /** Of arguments and results; what reads them later may recurse. */
  depth: 200,
  consoleLines: 200,
  consoleCharacters: 20_000,
  messageCharacters: 2000,
  timers: 1000,
  /** Of a text that the host reads or converts for the code, such as an address. */
  hostCallCharacters: 2_000_000,
} as const
