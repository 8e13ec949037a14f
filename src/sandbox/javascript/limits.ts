/** Limits of a run. Times are in milliseconds. */
export interface RunLimits {
  /** Processor time of the run's thread. */
  cpuMs: number
  /** Time from the start of the run (not from its queueing) to its end, including waiting for answers. */
  wallMs: number
  /** Length of the returned value as JSON, in characters. */
  resultCharacters: number
  /** Requests in total; those beyond `parallelRequests` wait for their turn. */
  requests: number
  parallelRequests: number
  /** Bytes of the body of one answer. */
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

/** Limits that no caller has a reason to change. */
export const bounds = {
  codeCharacters: 1_000_000,
  argumentCharacters: 5_000_000,
  /** Levels of arguments and results; code that reads them later can be recursive. */
  depth: 200,
  /** Values of a result, including names and lists: a thread that others wait for reads them at once. */
  resultValues: 50_000,
  consoleLines: 200,
  consoleCharacters: 20_000,
  messageCharacters: 2000,
  timers: 1000,
  /** Characters of a text that the host parses or converts for the code, such as an address. */
  hostCallCharacters: 2_000_000,
  /** Characters of a text for a locale, and numbers of such texts and of options. */
  localizedCharacters: 100_000,
  localizedValues: 1_000,
  /** Formatters that a thread keeps. */
  formatters: 30,
} as const
