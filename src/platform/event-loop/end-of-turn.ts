let sends: (() => void)[] = []
let beginnings: (() => void)[] = []

/**
 * Calls back at the end of this turn of the event loop, when everything that had arrived has been handled. What is sent
 * then goes out back to back: a reader on the same machine sleeps between two pieces, and waking it costs the sender more
 * than most pieces do.
 */
export function sendAtEndOfTurn(send: () => void): void {
  endSoon()
  sends.push(send)
}

/** The same for new work, which begins after everything has been sent: nothing that is ready waits for it. */
export function beginAtEndOfTurn(begin: () => void): void {
  endSoon()
  beginnings.push(begin)
}

function endSoon(): void {
  if (sends.length === 0 && beginnings.length === 0) setImmediate(endTurn)
}

function endTurn(): void {
  const due = [...sends, ...beginnings]
  sends = []
  beginnings = []
  for (const callBack of due) callBack()
}
