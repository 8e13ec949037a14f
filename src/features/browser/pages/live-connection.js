/** Milliseconds before a lost connection is opened again; each further attempt waits twice as long. */
const firstPauseMs = 500
const maxPauseMs = 10_000

/** Codes of an end that another attempt would not change: the session or the right to see it is over. */
const finalCodes = [1000, 4403, 4404]

/**
 * Keeps a WebSocket open. `onLost` is called with each failure, `onEnd` with the code of an end for good.
 * Returns what sends a message and says whether it could: without a connection it is dropped, since nobody sees what it does.
 */
export function keepConnected(url, { onMessage, onLost, onEnd }) {
  let socket
  let timer
  let pause = firstPauseMs

  function open() {
    clearTimeout(timer)
    timer = undefined
    socket = new WebSocket(url)
    socket.addEventListener('message', ({ data }) => {
      pause = firstPauseMs
      onMessage(JSON.parse(data))
    })
    socket.addEventListener('close', ({ code }) => {
      if (finalCodes.includes(code)) {
        onEnd(code)
        return
      }
      onLost()
      timer = setTimeout(open, pause)
      pause = Math.min(pause * 2, maxPauseMs)
    })
  }

  addEventListener('online', () => {
    if (timer !== undefined) open()
  })
  open()
  return message => {
    const isOpen = socket.readyState === WebSocket.OPEN
    if (isOpen) socket.send(JSON.stringify(message))
    return isOpen
  }
}
